// Measures how fast the kernels of LLM-* run on the first visible GPU: matrix products in every number format and
// attention forward (TFLOPS), memory read, written and copied (GB/s). With --pytorch, PyTorch does the same work in
// turn with them: batches of the same length, each after the same rest, because a GPU at its power cap depends on what
// it did just before. Prints the median (lowest … highest) over rounds, and the same of the ratio of a round.
// Usage: node bench/rates.js [--simulate] [--pytorch PYTHON] [--rounds N] [--batch-ms N] [WORK …]
//   WORK: the begin of a line's name, such as "product bf16"; default: all. N: 7 rounds of 50 ms.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: given, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    simulate: { type: 'boolean', default: false },
    pytorch: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    'batch-ms': { type: 'string', default: '50' },
  },
});
const simulated = given.simulate;
const rounds = Number(given.rounds);
/** The simulated card really computes, and models the time. */
const batch = { leastLaunches: simulated ? 1 : 5, leastNs: simulated ? 0 : Number(given['batch-ms']) * 1e6 };
const REST_MS = simulated ? 0 : 300;

const addon = createRequire(import.meta.url)('../build/Release/gpu_virt_bench.node');
const simulatedDriver = simulated ? fileURLToPath(new URL('../build/Release/sim', import.meta.url)) : null;
const session = await addon.openSession({ simulatedDriver, device: null, path: 'runtime' });

/** What the addon does of a work: TFLOPS or GB/s of one batch. */
const own = {
  async product({ number, side }) {
    const { rates } = await addon.gemmRates(session, { number, side, rounds: 1, ...batch, seed: 1 });
    const [{ unsupported, launchFlops, launchNs }] = rates;
    if (unsupported !== null) throw new Error(unsupported);
    return launchFlops / launchNs[0] / 1e3;
  },
  async attention({ backend: _, ...shape }) {
    const request = { ...shape, kvHeads: shape.heads, batches: 1, ...batch, seed: 1 };
    const { launchFlops, launchNs } = await addon.attention(session, request);
    return launchFlops / launchNs[0] / 1e3;
  },
  async memory({ kind }) {
    const bytes = simulated ? 2 ** 21 : 0;
    const { movedBytes, launchNs } = await addon.stream(session, { kind, bytes, batches: 1, ...batch });
    return movedBytes / launchNs[0];
  },
};

/** Answers requests one after the other. */
async function startPyTorch(python) {
  const file = fileURLToPath(new URL('pytorch.py', import.meta.url));
  const child = spawn(python, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  const next = async () => {
    const { value, done } = await Promise.race([lines.next(), failed]);
    if (done) throw new Error('Expected an answer of PyTorch, but it ended.');
    return JSON.parse(value);
  };
  const { name } = await next();
  return {
    name,
    async rate(work, backend) {
      child.stdin.write(`${JSON.stringify({ ...work, ...(backend && { backend }), ...batch })}\n`);
      const { rate, error } = await next();
      if (error !== undefined) throw new Error(error);
      return rate;
    },
    end: () => child.stdin.end(),
  };
}
const pytorch = given.pytorch === undefined ? null : await startPyTorch(given.pytorch);
if (pytorch) console.log(pytorch.name);

const SIDES = simulated ? [288] : [4096, 8192];
/** Lengths of sequences, of which as many are attended to at once as make 16 384 tokens. */
const LENGTHS = simulated ? [160] : [512, 1024, 2048, 4096, 8192, 16_384];
const tokens = (length) => (simulated ? { batch: 1, heads: 4, length } : { batch: 16_384 / length, heads: 16, length });
const works = [
  ...SIDES.flatMap((side) => ['fp16', 'bf16', 'fp8 e4m3'].map((number) => ({ work: 'product', number, side }))),
  { work: 'product', number: 'fp32', side: simulated ? 288 : 10_000 },
  ...[128, 64].flatMap((headDim) =>
    [false, true].flatMap((causal) =>
      LENGTHS.map((length) => ({ work: 'attention', number: 'bf16', ...tokens(length), headDim, causal })),
    ),
  ),
  ...['read', 'write', 'copy'].map((kind) => ({ work: 'memory', kind })),
  // For comparison with LLM-004's step, and with PCIE-001, PCIE-002 and PCIE-004.
  { work: 'weights', side: 8192 },
  ...['pinned', 'pageable'].flatMap((host) => ['device', 'host'].map((to) => ({ work: 'transfer', host, to }))),
];

const nameOf = ({ work, number, side, headDim, causal, length, kind, host, to }) =>
  [
    work,
    number,
    side,
    headDim && `D ${headDim}`,
    causal && 'causal',
    length && `S ${length}`,
    kind,
    host,
    to && `to ${to}`,
  ]
    .filter(Boolean)
    .join(' ');

function armsOf(work) {
  const ours = own[work.work] ? [{ name: 'own', rate: () => own[work.work](work) }] : [];
  if (!pytorch) return ours;
  if (work.work !== 'attention') return [...ours, { name: 'PyTorch', rate: () => pytorch.rate(work) }];
  const { headDim, number, ...rest } = work;
  const backends = work.length === 4096 ? ['cuDNN', 'flash'] : ['cuDNN'];
  return [
    ...ours,
    ...backends.map((backend) => ({ name: backend, rate: () => pytorch.rate({ ...rest, number, headDim }, backend) })),
  ];
}

const inOrder = (values) => [...values].sort((a, b) => a - b);
function spread(values, digits) {
  const sorted = inOrder(values);
  const [low, middle, high] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  return `${middle.toFixed(digits)} (${low.toFixed(digits)} … ${high.toFixed(digits)})`;
}

/** An arm that fails is said, and the others are measured. */
async function measured({ rate }) {
  await setTimeout(REST_MS);
  try {
    return await rate();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

for (const work of works) {
  const name = nameOf(work);
  const arms = armsOf(work);
  if (arms.length === 0 || (wanted.length > 0 && !wanted.some((begin) => name.startsWith(begin)))) continue;
  const rates = arms.map(() => []);
  for (let round = 0; round < rounds; round++)
    for (let place = 0; place < arms.length; place++) {
      const arm = (place + round) % arms.length;
      rates[arm].push(await measured(arms[arm]));
    }
  const failed = rates.map((all) => all.find((rate) => rate instanceof Error));
  const parts = arms.map((arm, i) => `${arm.name} ${failed[i] ? failed[i].message : spread(rates[i], 1)}`);
  const ratios = arms
    .slice(1)
    .map((arm, i) =>
      failed[0] || failed[i + 1]
        ? null
        : `own ÷ ${arm.name} ${spread(
            rates[0].map((rate, k) => rate / rates[i + 1][k]),
            3,
          )}`,
    )
    .filter((text) => text !== null);
  const unit = ['product', 'attention'].includes(work.work) ? 'TFLOPS' : 'GB/s';
  console.log([name, unit, ...parts, ...(own[work.work] ? ratios : [])].join('\t'));
}
pytorch?.end();
await addon.closeSession(session);

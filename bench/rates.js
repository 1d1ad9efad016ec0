// Measures how fast the kernels of LLM-* run on the first visible GPU: matrix products in every number format and
// attention forward (TFLOPS), decode attention, in turn with a plain read, memory read, written and copied (GB/s). With
// --pytorch, PyTorch does the same work in turn with them: batches of the same length, each after the same rest,
// because a GPU at its power cap depends on what it did just before. Prints the median (lowest … highest) over rounds,
// and the same of the ratio of a round.
// With --as, the kernels are those for a card of that compute capability, which a later GPU runs as well (it needs cc,
// for as-other-card.c). Beside them run kernels with the same instructions, mma.sync and cp.async: FlashAttention-2's,
// and cuBLAS's for 8.x (cublaslt.py). Lines below say which.
// Usage: node bench/rates.js [--simulate] [--as 8.0|8.6|8.9] [--pytorch PYTHON] [--rounds N] [--batch-ms N] [WORK …]
//   WORK: the begin of a line's name, such as "product bf16"; default: all. N: 7 rounds of 50 ms.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: given, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    simulate: { type: 'boolean', default: false },
    as: { type: 'string' },
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

/** An A100, an A10 and an L40S: compute capability, threads and shared memory of a multiprocessor and a block. */
const CARDS = {
  '8.0': '75=8,76=0,39=2048,81=167936,97=166912',
  8.6: '75=8,76=6,39=1536,81=102400,97=101376',
  8.9: '75=8,76=9,39=1536,81=102400,97=101376',
};
/** What a process is told of the GPU is decided when it starts. */
function again(card) {
  if (card === undefined) throw new Error(`Expected --as to be one of ${Object.keys(CARDS).join(', ')}.`);
  const folder = mkdtempSync(join(tmpdir(), 'gvb-as-'));
  try {
    const library = join(folder, 'as-other-card.so');
    const source = fileURLToPath(new URL('as-other-card.c', import.meta.url));
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], { stdio: 'inherit' });
    const env = { ...process.env, LD_PRELOAD: library, GVB_SHIM: card };
    return spawnSync(process.execPath, process.argv.slice(1), { stdio: 'inherit', env }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
if (given.as !== undefined && process.env.GVB_SHIM === undefined) process.exit(again(CARDS[given.as]));

const addon = createRequire(import.meta.url)('../build/Release/gpu_virt_bench.node');
const simulatedDriver = simulated ? fileURLToPath(new URL('../build/Release/sim', import.meta.url)) : null;
const session = await addon.openSession({ simulatedDriver, device: null, path: 'runtime' });

/** What the addon does of a work: TFLOPS or GB/s of one batch, and with which instructions. */
const own = {
  async product({ number, side }) {
    const { rates } = await addon.gemmRates(session, { number, side, rounds: 1, ...batch, seed: 1 });
    const [{ unsupported, launchFlops, launchNs, variant }] = rates;
    if (unsupported !== null) throw new Error(unsupported);
    return { rate: launchFlops / launchNs[0] / 1e3, variant };
  },
  async attention({ backend: _, ...shape }) {
    const request = { ...shape, kvHeads: shape.heads, batches: 1, ...batch, seed: 1 };
    const { launchFlops, launchNs, variant } = await addon.attention(session, request);
    return { rate: launchFlops / launchNs[0] / 1e3, variant };
  },
  async 'decode attention'(shape) {
    const heads = simulated ? { heads: 4, kvHeads: 2 } : { heads: 32, kvHeads: 8 };
    const request = { ...shape, ...heads, batches: 1, ...batch, seed: 1 };
    const { bytes, launchNs, splits } = await addon.decodeAttentionRate(session, request);
    return { rate: bytes / launchNs[0], variant: `${splits} splits` };
  },
  async memory({ kind }) {
    const bytes = simulated ? 2 ** 21 : 0;
    const { movedBytes, launchNs } = await addon.stream(session, { kind, bytes, batches: 1, ...batch });
    return { rate: movedBytes / launchNs[0], variant: kind };
  },
};

/** Answers requests one after the other. */
async function startPyTorch(python) {
  const file = fileURLToPath(new URL('pytorch.py', import.meta.url));
  const { LD_PRELOAD: _, GVB_SHIM: __, ...env } = process.env;
  const child = spawn(python, [file], { stdio: ['pipe', 'pipe', 'inherit'], env });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  const next = async () => {
    const { value, done } = await Promise.race([lines.next(), failed]);
    if (done) throw new Error('Expected an answer of PyTorch, but it ended.');
    return JSON.parse(value);
  };
  const { name } = await next();
  const answer = async (request) => {
    child.stdin.write(`${JSON.stringify({ ...request, ...batch })}\n`);
    const its = await next();
    if (its.error !== undefined) throw new Error(its.error);
    return its;
  };
  return {
    name,
    rate: async (work) => (await answer(work)).rate,
    kernels: async (work) => (await answer({ ...work, names: true })).kernels,
    end: () => child.stdin.end(),
  };
}
const pytorch = given.pytorch === undefined ? null : await startPyTorch(given.pytorch);
if (pytorch) console.log(pytorch.name);

const SIDES = simulated ? [288] : [4096, 8192];
/** Lengths of sequences, of which as many are attended to at once as make 16 384 tokens. */
const LENGTHS = simulated ? [160] : [512, 1024, 2048, 4096, 8192, 16_384];
const tokens = (length) => (simulated ? { batch: 1, heads: 4, length } : { batch: 16_384 / length, heads: 16, length });
const DECODED = simulated
  ? [[64, 72, 2]]
  : [
      [128, 1024, 100],
      [128, 2048, 50],
      [128, 4096, 25],
      [128, 8192, 12],
      [128, 16_384, 6],
      [128, 32_768, 3],
      [128, 65_536, 2],
      [128, 1000, 97],
      [64, 4096, 50],
    ];
const works = [
  ...SIDES.flatMap((side) => ['fp16', 'bf16', 'fp8 e4m3'].map((number) => ({ work: 'product', number, side }))),
  { work: 'product', number: 'fp32', side: simulated ? 288 : 10_000 },
  ...[128, 64].flatMap((headDim) =>
    [false, true].flatMap((causal) =>
      LENGTHS.map((length) => ({ work: 'attention', number: 'bf16', ...tokens(length), headDim, causal })),
    ),
  ),
  // As many sequences as make some 400 MB of keys and values.
  ...DECODED.map(([dimension, context, batch]) => ({ work: 'decode attention', dimension, context, batch })),
  ...['read', 'write', 'copy'].map((kind) => ({ work: 'memory', kind })),
  // For comparison with LLM-004's step, and with PCIE-001, PCIE-002 and PCIE-004.
  { work: 'weights', side: 8192 },
  ...['pinned', 'pageable'].flatMap((host) => ['device', 'host'].map((to) => ({ work: 'transfer', host, to }))),
];

const nameOf = ({ work, number, side, headDim, causal, length, dimension, context, batch, kind, host, to }) =>
  [
    work,
    dimension && `D ${dimension}, ${context} tokens × ${batch}`,
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
  const ofOwn = own[work.work];
  const ours = ofOwn
    ? [
        {
          name: 'own',
          rate: async () => (await ofOwn(work)).rate,
          kernels: async () => [(await ofOwn(work)).variant],
        },
      ]
    : [];
  if (work.work === 'decode attention') {
    const read = () => own.memory({ kind: 'read' });
    const arm = { name: 'read', rate: async () => (await read()).rate, kernels: async () => [(await read()).variant] };
    return [...ours, arm];
  }
  if (!pytorch) return ours;
  const theirs = (name, request) => ({
    name,
    rate: () => pytorch.rate(request),
    kernels: () => pytorch.kernels(request),
  });
  if (work.work === 'attention') {
    const natively = work.length === 4096 ? ['cuDNN', 'flash'] : ['cuDNN'];
    const backends = given.as === undefined ? natively : ['flash'];
    return [...ours, ...backends.map((backend) => theirs(backend, { ...work, backend }))];
  }
  const of8 = given.as !== undefined && work.work === 'product' && work.number !== 'fp32';
  return [...ours, ...(of8 ? [theirs('cuBLASLt 8.x', { ...work, of8 })] : []), theirs('PyTorch', work)];
}

/** Lines that say which kernels these are. Asked before the first round: to find one of 8.x takes seconds. */
async function kernelsOf(arms) {
  const lines = [];
  for (const { name, kernels } of arms) {
    const names = await kernels().catch((error) => [error.message]);
    lines.push(`  ${name}: ${names.map((text) => text.slice(0, 240)).join('; ')}`);
  }
  return lines;
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
  const kernels = given.as === undefined ? [] : await kernelsOf(arms);
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
  for (const line of kernels) console.log(line);
}
pytorch?.end();
await addon.closeSession(session);

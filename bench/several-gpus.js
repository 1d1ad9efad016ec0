// Records collectives on each pair of GPUs, and then LLM-010 and NCCL-001 to NCCL-004 on all visible GPUs under each
// system, in turns with the collectives on two GPUs and with PyTorch's and NCCL's own. NVLink multicast is off. Every
// document is written; DIR/summary.txt has medians and ratios.
// Usage: node bench/several-gpus.js --tool ./gpu-virt-bench --out DIR [--hami FILE] [--python FILE] [--rounds N] [--seconds N] [--simulate]
//   --hami: HAMi-core's library; without it native and MPS are compared. --python: has PyTorch; without it only the metrics
//   are measured. --rounds: default 3. --seconds: no turn begins later than this; default 500.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';

const text = { type: 'string' };
const { values } = parseArgs({
  options: {
    tool: text,
    out: text,
    hami: text,
    python: text,
    rounds: { ...text, default: '3' },
    seconds: { ...text, default: '500' },
    simulate: { type: 'boolean', default: false },
  },
});
if (!values.tool || !values.out) {
  console.error('Expected --tool FILE and --out DIR.');
  process.exit(2);
}
const [tool, out] = [resolve(values.tool), resolve(values.out)];
mkdirSync(out, { recursive: true });

const METRICS = ['LLM-010', 'NCCL-001', 'NCCL-002', 'NCCL-003', 'NCCL-004'];
const PYTORCH = fileURLToPath(new URL('nccl.py', import.meta.url));
/** Measured again on two of the GPUs; LLM-010 and NCCL-003 have rows of their own for them. */
const ON_TWO = ['NCCL-001', 'NCCL-002', 'NCCL-004'];
/** What PyTorch prints about the same quantity. */
const TWINS = {
  'LLM-010': 'scaling',
  'NCCL-001': 'ncclAllReduceUs',
  'NCCL-002': 'allGatherGbs',
  'NCCL-003': 'peerGbs',
  'NCCL-004': 'broadcastGbs',
};
const UNITS = {
  scaling: ['ratio', 'higher'],
  allReduceUs: ['us', 'lower'],
  allReduceGraphUs: ['us', 'lower'],
  ncclAllReduceUs: ['us', 'lower'],
  ncclAllReduceGraphUs: ['us', 'lower'],
  wholeMs: ['ms', 'lower'],
  stepMs: ['ms', 'lower'],
  allReduceGbs: ['GB/s', 'higher'],
  allGatherGbs: ['GB/s', 'higher'],
  peerGbs: ['GB/s', 'higher'],
  broadcastGbs: ['GB/s', 'higher'],
};
const systems = [
  'native',
  ...(values.hami ? [`hami-core:library=${resolve(values.hami)},memory=60GiB,sm=100`] : []),
  'mps:gpus=visible',
];
const simulate = values.simulate ? ['--simulate'] : [];
const turn = (seed) => ['--rounds', '1', '--seed', `${seed}`, ...simulate];

const began = performance.now();
const late = () => performance.now() - began > 1_000 * Number(values.seconds);
const lines = [];
const say = (line) => {
  console.log(line);
  lines.push(line);
};

/** The document of a command, or null if it wrote none; its output is kept beside it. */
function measured(name, args, environment = {}) {
  const path = join(out, `${name}.json`);
  const options = { encoding: 'utf8', env: { ...process.env, NCCL_NVLS_ENABLE: '0', ...environment } };
  const { status, stdout, stderr } = spawnSync(tool, [...args, '--json', path], options);
  writeFileSync(join(out, `${name}.txt`), `${stdout}\n${stderr}`);
  if (status !== 0) say(`${name}: exit ${status}: ${stderr.trim().split('\n').at(-1)}`);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
}

const systemArgs = systems.flatMap((system) => ['--system', system]);

function compared(name, round, metrics, environment) {
  const more = [...turn(round), '--tier', 'quick', '--output', join(out, `${name}-${round}`)];
  return measured(`${name}-${round}`, ['compare', ...metrics, ...systemArgs, ...more], environment);
}

function pytorchTurn(round) {
  const metrics = Object.fromEntries(
    Object.entries(UNITS).map(([name, [unit, direction]]) => [name, { jsonl: `/${name}`, unit, direction }]),
  );
  const workload = { name: 'pytorch', argv: [values.python, PYTORCH], warmup: 0, iterations: 1, metrics };
  const config = join(out, 'pytorch.json');
  writeFileSync(config, JSON.stringify({ workloads: [workload] }));
  const more = ['--config', config, '--output', join(out, `pytorch-${round}`)];
  return measured(`pytorch-${round}`, ['exec', ...more, ...systemArgs, ...turn(round)]);
}

/** Values by system and metric, over turns. */
const kept = new Map();
function keep(document, nameOf) {
  for (const [round] of document?.systems ?? [])
    for (const metric of round.metrics) {
      const name = nameOf(metric.id);
      if (name === undefined) continue;
      const key = `${round.system.name.replace(/ \(unverified\)$/, '')} ${name}`;
      if (metric.value === null) say(`${key}: ${metric.status}: ${metric.reason}`);
      kept.set(key, [...(kept.get(key) ?? []), metric.value ?? NaN]);
    }
}

const inOrder = (numbers) => numbers.filter(Number.isFinite).sort((a, b) => a - b);
const spread = (numbers) => {
  const sorted = inOrder(numbers);
  if (sorted.length === 0) return 'none';
  return `${sorted[Math.floor(sorted.length / 2)].toPrecision(4)} (${sorted[0].toPrecision(4)} … ${sorted.at(-1).toPrecision(4)})`;
};
const ratios = (some, others) => some.map((value, i) => value / others[i]);

/** Two GPUs each, natively: do pairs differ? NCCL-003 on all has the copies of each pair. */
function pairs() {
  const devices = measured('all', ['run', 'NCCL-003', '--seed', '1', ...simulate]);
  const count = devices?.metrics[0].details.visibleGpus ?? 0;
  for (let a = 0; a < count; a += 1)
    for (let b = a + 1; b < count; b += 1) {
      const args = ['run', 'LLM-010', 'NCCL-001', 'NCCL-002', '--seed', '1', ...simulate];
      const document = measured(`pair-${a}-${b}`, args, { CUDA_VISIBLE_DEVICES: `${a},${b}` });
      const shown = document?.metrics.map(({ id, value, status }) => `${id} ${value?.toPrecision(4) ?? status}`);
      say(`GPUs ${a} and ${b}: ${shown?.join(', ')}`);
    }
}
pairs();

for (let round = 1; round <= Number(values.rounds) && !late(); round += 1) {
  keep(compared('metrics', round, METRICS), (id) => id);
  if (!late()) keep(compared('two', round, ON_TWO, { CUDA_VISIBLE_DEVICES: '0,1' }), (id) => `${id} on two`);
  if (values.python && !late())
    keep(pytorchTurn(round), (id) => id.startsWith('pytorch/') && UNITS[id.slice(8)] && id.replace('/', ' '));
}

for (const name of systems.map((system) => system.split(':')[0])) {
  say(`\n${name}`);
  for (const id of [...METRICS, ...ON_TWO.map((each) => `${each} on two`)]) {
    const [own, native] = [kept.get(`${name} ${id}`) ?? [], kept.get(`native ${id}`) ?? []];
    const twin = kept.get(`${name} pytorch ${TWINS[id]}`) ?? [];
    if (own.length === 0) continue;
    say(
      `${id}  ${spread(own)}` +
        (name === 'native' ? '' : `, of native ${spread(ratios(own, native))}`) +
        (twin.length === 0 ? '' : `; PyTorch ${spread(twin)}, own ÷ PyTorch ${spread(ratios(own, twin))}`),
    );
  }
}

writeFileSync(
  join(out, 'summary.txt'),
  `${new Date().toISOString()}\nnode bench/several-gpus.js ${process.argv.slice(2).join(' ')}\n${lines.join('\n')}\n`,
);

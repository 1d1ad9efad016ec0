// Measures the time that exec adds to a run beyond starting the program, and whether runs leak: many runs of /bin/true
// against the same number of plain spawns, alternating. Exits with 1 if a limit is not met.
// Usage: node bench/exec.js [RUNS]   (default 1000; on a machine without a driver the GPU is simulated)
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { execWorkloads, listDevices } from '../dist/index.js';

const RUNS = Number(process.argv[2] ?? 1_000);
const BLOCKS = 5;
/** Limit in milliseconds per run beyond a spawn. */
const MOST_MS = 10;
/** Limit on the growth between the blocks: a leak of a few kilobytes per run would exceed it. */
const MOST_GROWTH_BYTES = 20e6;
const PROGRAM = '/bin/true';

const spawned = () =>
  new Promise((resolve, reject) => {
    const child = spawn(PROGRAM, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.once('error', reject).once('close', resolve);
  });

async function spawnMs(runs) {
  const from = performance.now();
  for (let i = 0; i < runs; i++) await spawned();
  return (performance.now() - from) / runs;
}

const simulate = await listDevices().then(
  () => false,
  () => true,
);

/** Time per run without the fixed cost of a round; the first metric contains all runs. */
async function execMs(iterations) {
  const workload = { name: 'true', argv: [PROGRAM], warmup: 0, iterations };
  const { systems } = await execWorkloads({ workloads: [workload], rounds: 1, simulate });
  const { metrics } = systems[0][0];
  const wall = metrics.find(({ id }) => id === 'true/wall');
  if (wall.status !== 'ok') throw new Error(wall.reason);
  return { ms: Math.max(...metrics.map(({ durationMs }) => durationMs)) / wall.processes, runs: wall.processes };
}

const state = () => {
  globalThis.gc?.();
  return { rss: process.memoryUsage.rss(), descriptors: readdirSync('/proc/self/fd').length };
};

const each = Math.ceil(RUNS / BLOCKS);
await execMs(each);
const rows = [];
for (let block = 0; block < BLOCKS; block++) {
  const { ms, runs } = await execMs(each);
  rows.push({ exec: ms, runs, spawn: await spawnMs(each), ...state() });
}
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const added = rows.map(({ exec, spawn: plain }) => exec - plain);
const [first, last] = [rows[0], rows.at(-1)];
const runs = rows.reduce((sum, row) => sum + row.runs, 0);
console.log(
  `${runs} runs of ${PROGRAM}: ${median(rows.map(({ exec }) => exec)).toFixed(2)} ms a run, a plain spawn ${median(rows.map(({ spawn: plain }) => plain)).toFixed(2)} ms; exec adds ${median(added).toFixed(2)} ms (${Math.min(...added).toFixed(2)} … ${Math.max(...added).toFixed(2)} over ${BLOCKS} blocks)`,
);
const growth = last.rss - first.rss;
console.log(
  `Memory: ${(growth / 1e6).toFixed(1)} MB more after the last block than after the first; descriptors: ${first.descriptors} and ${last.descriptors}`,
);
if (median(added) > MOST_MS || growth > MOST_GROWTH_BYTES || last.descriptors > first.descriptors) {
  console.error(`Limits: ${MOST_MS} ms a run, ${MOST_GROWTH_BYTES / 1e6} MB, no further descriptor.`);
  process.exit(1);
}

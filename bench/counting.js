// Measures the time that counting adds to a driver call: the same loop with and without libgvb-count.so, alternating.
// Usage: node bench/counting.js   (on a machine without a driver it calls the simulated one)
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { program } from './programs.js';

const ROUNDS = 9;
const built = fileURLToPath(new URL('../build/Release', import.meta.url));
const counted = program('counted_calls');
const folder = mkdtempSync(join(tmpdir(), 'gvb-counting-'));
const hasDriver = spawnSync(counted, ['1']).status === 0;

function nsPerCall(threads, isCounted) {
  const { status, stdout, stderr } = spawnSync(counted, [`${threads}`], {
    encoding: 'utf8',
    env: {
      ...process.env,
      ...(!hasDriver && { LD_LIBRARY_PATH: join(built, 'sim'), GVB_SIM: `region=counting-${process.pid}` }),
      ...(isCounted && { LD_PRELOAD: join(built, 'interpose/libgvb-count.so'), GVB_COUNT_FOLDER: folder }),
    },
  });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout);
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

try {
  for (const threads of [1, 2]) {
    const rounds = Array.from({ length: ROUNDS }, () => [nsPerCall(threads, false), nsPerCall(threads, true)]);
    const added = rounds.map(([without, counting]) => counting - without);
    const [without, counting] = [0, 1].map((arm) => median(rounds.map((round) => round[arm])).toFixed(2));
    const range = `${Math.min(...added).toFixed(2)} … ${Math.max(...added).toFixed(2)}`;
    console.log(
      `${threads} thread(s): ${without} ns a call, counted ${counting} ns; counting adds ${median(added).toFixed(2)} ns (${range} over ${ROUNDS} rounds)`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}

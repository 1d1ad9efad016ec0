// Do the addon and a plain C++ program with the same measurement code agree within 1 %? Alternates the two, A B B A,
// and compares the medians over rounds. Usage: node bench/agreement.js [--simulate] [ROUNDS]
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { program } from './programs.js';
import { measureKernelLaunch, measureMemoryAllocation, measureMemoryFree } from '../dist/index.js';

const LIMIT = 0.01;
const simulate = process.argv.includes('--simulate');
const rounds = Number(process.argv.find((argument) => /^\d+$/.test(argument)) ?? 3);
const file = program('standalone_bench');
const counts = { launch: 500, alloc: 200, free: 200 };

function standalone(what) {
  const folder = simulate ? [fileURLToPath(new URL('../build/Release/sim', import.meta.url))] : [];
  const { status, stdout, stderr } = spawnSync(file, [what, String(counts[what]), ...folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const { residualNs, ...figures } = JSON.parse(stdout);
  if (residualNs > 500) throw new Error(`The clock mapping is off by ${residualNs} ns: is the machine busy?`);
  return figures;
}

const options = (what) => ({ simulate, iterations: counts[what] });
const addon = {
  launch: async () => {
    const { status, reason, details } = await measureKernelLaunch(options('launch'));
    if (status !== 'ok') throw new Error(`OH-001 is ${status}: ${reason}. Is the machine busy?`);
    const [call] = details.calls;
    return { submitNs: call.submitUs * 1e3, startNs: call.startUs * 1e3, roundTripNs: call.roundTripUs * 1e3 };
  },
  alloc: async () => ({ allocNs: (await measureMemoryAllocation(options('alloc'))).value * 1e3 }),
  free: async () => ({ freeNs: (await measureMemoryFree(options('free'))).value * 1e3 }),
};

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
let worst = 0;
for (const what of Object.keys(counts)) {
  const seen = {};
  for (let round = 0; round < rounds; round++) {
    const arms = round % 2 === 0 ? ['addon', 'standalone'] : ['standalone', 'addon'];
    for (const arm of arms) {
      const figures = arm === 'addon' ? await addon[what]() : standalone(what);
      for (const [name, ns] of Object.entries(figures)) {
        seen[name] ??= { addon: [], standalone: [] };
        seen[name][arm].push(ns);
      }
    }
  }
  for (const [name, arms] of Object.entries(seen)) {
    const ratio = median(arms.addon) / median(arms.standalone);
    worst = Math.max(worst, Math.abs(ratio - 1));
    console.log(`${name.padEnd(12)} addon / standalone = ${ratio.toFixed(4)}`);
  }
}
console.log(`worst difference ${(worst * 100).toFixed(2)} %, at most ${LIMIT * 100} % expected`);
process.exitCode = worst <= LIMIT ? 0 : 1;

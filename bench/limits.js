// The tool's own cost: start of the command line, import of the library (both the median of several runs, the latter
// less what an empty Node process takes), the event loop while measuring, the coordinator's CPU while workers measure.
// Usage: node bench/limits.js [--simulate]
import { spawnSync } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

const RUNS = 9;
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

function medianMs(args) {
  const times = Array.from({ length: RUNS }, () => {
    const start = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[Math.floor(RUNS / 2)];
}

const empty = medianMs(['--input-type=module', '-e', '']);
const rows = [
  { what: '--help, whole process', value: medianMs([`${root}/dist/cli/main.js`, '--help']), limit: 200, unit: 'ms' },
  {
    what: 'import of the library',
    value: medianMs(['--input-type=module', '-e', `await import('${root}/dist/index.js')`]) - empty,
    limit: 50,
    unit: 'ms',
  },
];

const { measureKernelLaunch, measureMemoryAllocation, runMetrics } = await import(`${root}/dist/index.js`);
const simulate = process.argv.includes('--simulate');
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
await measureKernelLaunch({ simulate, iterations: 1_000 });
await measureMemoryAllocation({ simulate, iterations: 200 });
delay.disable();
rows.push({ what: 'event-loop delay p99 while measuring', value: delay.percentile(99) / 1e6, limit: 10, unit: 'ms' });
const { coordinatorCpuPercent } = await runMetrics({ simulate });
rows.push({ what: 'coordinator, of one core', value: coordinatorCpuPercent, limit: 5, unit: '%' });

let failed = false;
for (const { what, value, limit, unit } of rows) {
  failed ||= !(value < limit);
  const verdict = value < limit ? '' : '  TOO MUCH';
  console.log(`${what.padEnd(38)} ${value.toFixed(1).padStart(7)} ${unit}  (limit ${limit} ${unit})${verdict}`);
}
process.exitCode = failed ? 1 : 0;

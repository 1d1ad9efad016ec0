// The tool's own speed: start of the command line, import of the library, event loop while measuring. Each as the
// median of several runs, less what an empty Node process costs. Usage: node bench/limits.js
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
  { what: '--help, whole process', ms: medianMs([`${root}/dist/cli/main.js`, '--help']), limit: 200 },
  {
    what: 'import of the library',
    ms: medianMs(['--input-type=module', '-e', `await import('${root}/dist/index.js')`]) - empty,
    limit: 50,
  },
];

const { measureKernelLaunch, measureMemoryAllocation } = await import(`${root}/dist/index.js`);
const simulate = process.argv.includes('--simulate');
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
await measureKernelLaunch({ simulate, iterations: 1_000 });
await measureMemoryAllocation({ simulate, iterations: 200 });
delay.disable();
rows.push({ what: 'event-loop delay p99 while measuring', ms: delay.percentile(99) / 1e6, limit: 10 });

let failed = false;
for (const { what, ms, limit } of rows) {
  failed ||= !(ms < limit);
  console.log(
    `${what.padEnd(38)} ${ms.toFixed(1).padStart(7)} ms  (limit ${limit} ms)${ms < limit ? '' : '  TOO SLOW'}`,
  );
}
process.exitCode = failed ? 1 : 0;

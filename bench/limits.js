// The tool's own cost, as ratios to reference work in the same run, so that the limits hold on slow and fast machines:
// an empty Node process for the start of the command line and the import of the library, JSON for reports. Shares need
// no reference: the event loop while measuring, the coordinator's CPU while workers measure. The limits for a scene of
// tenants and for the simulated card are absolute times.
// Usage: node bench/limits.js [--simulate]
import { Buffer } from 'node:buffer';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { moduleText, ProcessCosts } from './process-cost.js';
import { sceneRows } from './scene.js';
import { simulatedCardRows } from './simulated-card.js';

const RUNS = 9;
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
// Inside the package, whose files the fixtures look for.
const folder = mkdtempSync(join(root, 'build/limits-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const costs = new ProcessCosts(folder);

/** A document with 56 metrics, 4 systems and 10 rounds with a thousand raw samples each, as in the report tests. */
async function largeDocument() {
  const bundle = await rolldown({
    input: `${root}/test/unit/report/fixtures.ts`,
    platform: 'node',
    logLevel: 'silent',
  });
  const file = join(folder, 'fixtures.mjs');
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  const { large } = await import(pathToFileURL(file).href);
  return large(1_000);
}

const { empty, help, library } = costs.inTurn(
  {
    empty: moduleText(''),
    help: [`${root}/dist/cli/main.js`, '--help'],
    library: moduleText(`await import('${root}/dist/index.js')`),
  },
  RUNS,
);
const rows = [
  { what: '--help / an empty process', value: help.ms / empty.ms, limit: 5 },
  { what: 'import of the library / an empty process', value: library.ms / empty.ms, limit: 5 },
];

// Every format reads the document; the rest is compared with reading it and writing it again as JSON.
const file = join(folder, 'large.json');
writeFileSync(file, JSON.stringify(await largeDocument()));
const copy = `import { readFileSync, writeFileSync } from 'node:fs';
const document = JSON.parse(readFileSync(${JSON.stringify(file)}, 'utf8'));
writeFileSync(${JSON.stringify(join(folder, 'copy.json'))}, JSON.stringify(document, null, 2));`;
const reference = costs.of(moduleText(copy), 3);
for (const format of ['html', 'markdown', 'json']) {
  const args = [`${root}/dist/cli/main.js`, 'report', file, `--${format}`, join(folder, `out.${format}`)];
  const { ms, kib } = costs.of(args, 3);
  rows.push({ what: `largest report, ${format}: time / JSON`, value: ms / reference.ms, limit: 6 });
  rows.push({ what: `largest report, ${format}: memory / JSON`, value: kib / reference.kib, limit: 2 });
}

/** The cost of keeping a layer's output, relative to splitting it into lines: short lines are the worst case. */
const { BoundedLog, LineSplitter } = await import(`${root}/dist/workers/lines.js`);
function noiseMs(onLine) {
  const chunk = Buffer.from('x\n'.repeat(32 * 1024));
  const splitter = new LineSplitter(onLine);
  const start = performance.now();
  for (let i = 0; i < 64; i++) splitter.push(chunk);
  return performance.now() - start;
}
const log = new BoundedLog();
const lines = noiseMs(() => {});
const kept = noiseMs((line) => log.append(`${line}\n`));
rows.push({ what: 'noise of a layer kept / cut into lines', value: kept / lines, limit: 10 });

const { measureKernelLaunch, measureMemoryAllocation, runMetrics } = await import(`${root}/dist/index.js`);
const simulate = process.argv.includes('--simulate');
const spinning = monitorEventLoopDelay({ resolution: 1 });
spinning.enable();
await new Promise((resolve) => setTimeout(resolve, 1_000));
spinning.disable();
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
await measureKernelLaunch({ simulate, iterations: 1_000 });
await measureMemoryAllocation({ simulate, iterations: 200 });
delay.disable();
rows.push({
  what: 'event-loop delay p99, measuring / idle',
  value: delay.percentile(99) / spinning.percentile(99),
  limit: 8,
});
const { coordinatorCpuPercent } = await runMetrics({ metrics: ['all'], simulate });
rows.push({ what: 'coordinator, percent of one core', value: coordinatorCpuPercent, limit: 5 });
rows.push(...(await sceneRows()));
rows.push(...(await simulatedCardRows()));

let failed = false;
for (const { what, value, limit } of rows) {
  failed ||= !(value < limit);
  const verdict = value < limit ? '' : '  TOO MUCH';
  console.log(`${what.padEnd(42)} ${value.toFixed(2).padStart(7)}  (limit ${limit})${verdict}`);
}
process.exitCode = failed ? 1 : 0;

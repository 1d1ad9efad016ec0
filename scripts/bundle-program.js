// Joins the compiled modules of dist/ into few files: Node takes about a millisecond for each module it loads, and a
// comparison starts many processes. Modules that are imported on demand stay separate files; types stay as they are.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** Modules that are started or imported by path: by users, by the program itself, and by scripts/ and bench/. */
const entries = [
  'index',
  'all-settings',
  'cli/main',
  'worker/main',
  'checkpoint/checkpoint-guardian',
  'fleet/delivery',
  'fleet/plan',
  'fleet/report/document',
  'systems/kinds/mps/mps-guardian',
  'systems/kinds/container/container-guardian',
  'systems/kinds/pod/pod-guardian',
  'workers/pod/signal-marked',
  'metrics/core/details',
  'metrics/first-run',
  'metrics/purposes',
  'metrics/registry',
  'results/call-profile',
  'results/text/category-title',
  'results/document',
  'results/text/effect-text',
  'results/upgraded',
  'rendering',
  'report/formats',
  'run/effects/detect',
  'run/effects/family',
  'run/effects/judged',
  'metrics/recorded-variances',
  'stats/jain',
  'stats/largest',
  'stats/random',
  'stats/serial',
  'stats/slope',
  'stats/figure-of-windows',
  'workers/lines',
  'workers/local',
  'workers/scene',
  'workloads/metrics/program-metrics',
];
/**
 * Modules that are loaded together form one file, with everything that they import and that is in no earlier group: the
 * requests of every worker, what commands and measurements share, the parsing of a command line, the measurements, the
 * common code of all commands that measure, and the reports of a result directory.
 */
const groups = [
  [
    'worker',
    'native/load',
    'native/session',
    'workers/serve',
    'workers/threads',
    'worker/requests',
    'workers/container/container-variable',
    'workers/pod/pod-variables',
    'systems/proof/ld-preload',
    'errors/usage-error',
    'results/text/plain',
  ],
  ['owners', 'environment/process-identity', 'errors/unwritable'],
  ['program', 'cli/program'],
  ['measuring', 'metrics/registry', 'metrics/core/measure', 'metrics/core/options'],
  ['measuring-command', 'cli/commands/run', 'cli/commands/compare', 'monitor/stored-timeline'],
  ['reports', 'report/formats/json', 'report/formats/markdown', 'report/formats/html'],
].map(([name, ...modules], index, { length }) => ({
  name,
  test: (id) => modules.some((module) => id === join(dist, `${module}.js`)),
  priority: length - index,
}));

/** The charts have their own bundle (bundle-charts.js). */
const charts = join(dist, 'report/charts/echarts.js');

/** Whether an import is of a package, not of a file. */
export const isPackage = (id) => !/^[./]/.test(id);

export async function bundleProgram() {
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, join(dist, `${name}.js`)])),
    platform: 'node',
    // A module that one file imports on demand may be imported statically by another file of the same group.
    checks: { ineffectiveDynamicImport: false },
    external: (id, importer) => isPackage(id) || (importer !== undefined && join(dirname(importer), id) === charts),
  });
  const { output } = await bundle.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: { groups },
    // The package has 4 MB at most. Names stay, so that stack traces say where.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    // Comments on functions and fields are in the types.
    comments: { legal: true, annotation: true, jsdoc: false },
  });
  await bundle.close();
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const file = join(dist, name);
    if (name.endsWith('.js') && file !== charts) rmSync(file);
  }
  for (const { fileName, code } of output) {
    const file = join(dist, fileName);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
  }
}

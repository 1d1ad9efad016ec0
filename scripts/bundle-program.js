// Joins the compiled modules of dist/ into few files: Node takes about a millisecond for each module it loads, and a
// comparison starts many processes. What is loaded late stays a file of its own; types stay as they are.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** What is started or imported by its path: by users, by the program itself, and by scripts/ and bench/. */
const entries = [
  'index',
  'cli/main',
  'worker/main',
  'systems/mps-guardian',
  'systems/container/container-guardian',
  'results/call-profile',
  'results/category-title',
  'results/document',
  'rendering',
  'workers/lines',
  'workers/local',
  'workers/scene',
];
/**
 * What is loaded together is one file, with everything that it imports and that is in no group before it: what every
 * worker answers, what reads a command line, what measures, what every command that measures needs, and the reports of
 * a result directory.
 */
const groups = [
  [
    'worker',
    'native/load',
    'native/session',
    'workers/serve',
    'workers/threads',
    'worker/requests',
    'systems/ld-preload',
    'errors/usage-error',
  ],
  ['program', 'cli/program'],
  ['measuring', 'metrics/registry', 'metrics/measure', 'metrics/options'],
  ['measuring-command', 'cli/run', 'cli/compare'],
  ['reports', 'report/json', 'report/markdown', 'report/html'],
].map(([name, ...modules], index, { length }) => ({
  name,
  test: (id) => modules.some((module) => id === join(dist, `${module}.js`)),
  priority: length - index,
}));

/** Bundled by itself (bundle-charts.js). */
const charts = join(dist, 'report/charts/echarts.js');

const isPackage = (id) => !/^[./]/.test(id);

export async function bundleProgram() {
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, join(dist, `${name}.js`)])),
    platform: 'node',
    // What is imported late by one is imported at once by another that is loaded with it.
    checks: { ineffectiveDynamicImport: false },
    external: (id, importer) => isPackage(id) || (importer !== undefined && join(dirname(importer), id) === charts),
  });
  const { output } = await bundle.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: { groups },
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

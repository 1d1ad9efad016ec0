// Joins the compiled modules of dist/, and the packages that they import, into few files: Node takes about a millisecond
// for each module it loads, and a comparison starts many processes. Modules that are imported on demand stay separate
// files; types stay as they are.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { noticesOf } from './licences.js';
import { groupsOf } from './module-groups.js';

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
  'systems/kinds/mps/group-guardian',
  'systems/kinds/mps/mps-guardian',
  'systems/kinds/nvshare/nvshare-guardian',
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
  'workloads/proof/witness-inside',
];
/** The charts have their own bundle (bundle-charts.js). */
const charts = join(dist, 'report/charts/echarts.js');

/** Whether an import is of a package, not of a file. */
export const isPackage = (id) => !/^[./]/.test(id);

/** What `listed` is, so that `list` and the import of the library do not load every metric for it. */
const listed = join(dist, 'metrics/listed.js');
const listedValues = {
  name: 'values of metrics/listed',
  load(id) {
    if (id !== listed) return null;
    // A process of its own: one that builds twice would get the module of the first build.
    const program = `process.stdout.write(JSON.stringify((await import(${JSON.stringify(id)})).listed))`;
    return `export const listed = ${execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })};`;
  },
};

/** Installed with the package: it looks for the addon in folders beside its caller. */
const INSTALLED = 'node-gyp-build';

/** A package that is loaded on demand, by `require`, has a file of its own beside the chunks. */
const YAML = 'yaml.cjs';
const yamlLibrary = join(dist, 'config/yaml-library.js');
const yamlFile = {
  name: 'the file of yaml',
  load: (id) => (id === yamlLibrary ? readFileSync(id, 'utf8').replace("'yaml'", `'./${YAML}'`) : null),
};

const HEAD =
  'The files of this folder hold code of these packages, bundled, without spaces and with shorter expressions and names within functions, otherwise unchanged.';

/** The folders of packages that have a module in the bundle. */
function packagesIn(output) {
  const folders = output.flatMap(({ moduleIds = [] }) =>
    moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []),
  );
  return [...new Set(folders)].sort();
}

/** V8 keeps a source of other characters with two bytes each, and reads it more slowly. */
const ascii = (code) => code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

// The package is to stay small (packed.js). Names of functions and classes stay, so that stack traces say where; those within a
// function are shortened.
const minify = {
  compress: { keepNames: { function: true, class: true } },
  mangle: { toplevel: false },
  codegen: { removeWhitespace: true },
};
// Comments on functions and fields are in the types.
const comments = { legal: true, annotation: true, jsdoc: false };

async function bundleYaml() {
  const input = createRequire(import.meta.url).resolve('yaml');
  const bundle = await rolldown({ input, platform: 'node' });
  const { output } = await bundle.generate({ format: 'cjs', entryFileNames: `chunks/${YAML}`, minify, comments });
  await bundle.close();
  return output;
}

export async function bundleProgram() {
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, join(dist, `${name}.js`)])),
    platform: 'node',
    // A module that one file imports on demand may be imported statically by another file of the same group.
    plugins: [listedValues, yamlFile],
    checks: { ineffectiveDynamicImport: false },
    external: (id, importer) =>
      isBuiltin(id) || id === INSTALLED || (importer !== undefined && join(dirname(importer), id) === charts),
  });
  const { output } = await bundle.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: { groups: groupsOf(dist) },
    minify,
    comments,
  });
  await bundle.close();
  const all = [...output, ...(await bundleYaml())];
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const file = join(dist, name);
    if (name.endsWith('.js') && file !== charts) rmSync(file);
  }
  for (const { fileName, code } of all) {
    const file = join(dist, fileName);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, ascii(code));
  }
  writeFileSync(join(dist, 'packages.LICENSE.txt'), noticesOf(HEAD, packagesIn(all)));
}

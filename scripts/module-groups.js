// Which modules of dist/ form a file together, before they are joined.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Processes that clean up after others: many are started, and each needs little. */
const GUARDIANS = [
  'checkpoint/checkpoint-guardian',
  'systems/kinds/container/container-guardian',
  'systems/kinds/mps/group-guardian',
  'systems/kinds/mps/mps-guardian',
  'systems/kinds/nvshare/nvshare-guardian',
  'systems/kinds/pod/pod-guardian',
  'workers/pod/signal-marked',
];

/**
 * Modules that are loaded together form one file, with everything that they import and that is in no earlier group: each package that
 * another process than a command needs, what a command needs before it knows whether it starts, the requests of every worker, what
 * commands and measurements share, what guardians need, the parsing of a command line, what the import of the library needs, what it
 * lists, what measurements share, each metric that a worker measures itself, the list of metrics, those that start processes, the common
 * code of all commands that measure, and the reports of a result directory.
 */
export function groupsOf(dist) {
  const inWorker = importsOf(dist, 'metrics/in-worker', ON_DEMAND);
  const packages = ['valibot', 'simple-statistics'].map((name) => ({
    name,
    test: new RegExp(`/node_modules/${name}/`),
  }));
  const own = [
    ['start', ...importsOf(dist, 'cli/main', STATIC)],
    [
      'worker',
      'native/confined',
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
    ['guarding', ...GUARDIANS.flatMap((guardian) => importsOf(dist, guardian, STATIC))],
    ['program', 'cli/program'],
    [
      'library',
      'metrics/core/measure-function',
      ...importsOf(dist, 'inventory', STATIC).filter((module) => module !== 'metrics/listed'),
    ],
    ['inventory', 'inventory'],
    ['measuring', 'metrics/core/measure', 'metrics/core/options', ...sharedBy(dist, inWorker)],
    ...inWorker.map((metric) => [`metric-${/^[a-z]+-\d+/.exec(basename(metric))[0]}`, metric]),
    ['listing', 'cli/commands/list'],
    ['measuring-processes', 'metrics/registry'],
    ['measuring-command', 'cli/commands/run', 'cli/commands/compare', 'monitor/stored-timeline'],
    ['reports', 'report/formats/json', 'report/formats/markdown', 'report/formats/html'],
  ].map(([name, ...modules]) => ({ name, test: (id) => modules.some((module) => id === join(dist, `${module}.js`)) }));
  return [...packages, ...own].map((group, index, { length }) => ({ ...group, priority: length - index }));
}

const STATIC = /^(?:import|export)\b[^;]*? from ['"](\.[^'"]+)\.js['"]/gm;
const ON_DEMAND = /\bimport\(['"](\.[^'"]+)\.js['"]\)/g;

const importsOf = (dist, module, form) =>
  [...readFileSync(join(dist, `${module}.js`), 'utf8').matchAll(form)].map(([, path]) => join(dirname(module), path));

function reached(dist, module, seen = new Set()) {
  if (seen.has(module)) return seen;
  seen.add(module);
  for (const imported of importsOf(dist, module, STATIC)) reached(dist, imported, seen);
  return seen;
}

/** Modules that several of these need. */
function sharedBy(dist, modules) {
  const all = modules.map((module) => reached(dist, module));
  return [...new Set(all.flatMap((one) => [...one]))].filter(
    (module) => all.filter((one) => one.has(module)).length > 1,
  );
}

// Uses the packed package as users do: installed by several package managers, none of which runs a script of it; under
// every line of Node that it supports, by import, require and in a worker thread; in jest and vitest; bundled by esbuild
// and rolldown. Each package manager and each Node is tried once. Needs a registry; says what it tested.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { otherNode } from './other-nodes.js';
import { fail, pack, root, run, temporaryFolder } from './packed.js';

/** The oldest supported one does not load modules by require; the others are the newest of their line. */
const OLDEST = '20.17.0';
const LINES = ['22', '24', '26'];
/** npm 12 needs a newer Node than this package does. */
const NODE_OF_NPM_12 = '24';
const tools = ['npm12@npm:npm@12', 'pnpm@10', 'yarn@1', '@yarnpkg/cli-dist@4', 'jest@30', 'esbuild@0.28'];

const folder = temporaryFolder('gvb-consumers-');
const toolFolder = makeFolder('tools', {});
const tool = (path) => join(toolFolder, 'node_modules', path);
const { tarball } = pack(folder);

function makeFolder(name, files) {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'package.json'), JSON.stringify({ name: 'consumer', private: true, version: '1.0.0' }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return path;
}

/** What each way of using the package runs. OH-002 is the metric that a busy machine does not disturb. */
const measure = `measureMemoryAllocation({ simulate: true }).then(({ status, value, reason }) => {
  if (status !== 'ok' || !(value > 0)) throw new Error(status + ': ' + reason);
  console.log('measured');
});
`;
const bundled = `import { measureMemoryAllocation } from 'gpu-virt-bench';\n${measure}`;
const inTest = `test('measures', async () => {
  expect(await measureMemoryAllocation({ simulate: true })).toMatchObject({ status: 'ok' });
}, 60_000);
`;
const files = {
  'import.mjs': bundled,
  'require.cjs': `const { measureMemoryAllocation } = require('gpu-virt-bench');\n${measure}`,
  'thread.mjs': `import { Worker } from 'node:worker_threads';
new Worker(new URL('./import.mjs', import.meta.url)).on('exit', (code) => (process.exitCode = code));
`,
  'consumer.test.mjs': `import { measureMemoryAllocation } from 'gpu-virt-bench';\n${inTest}`,
  'vitest.config.mjs': `export default { test: { globals: true, include: ['*.test.mjs'] } };\n`,
};

/** Resolves with the exit code and all output. */
const output = (program, args, cwd, env = {}) =>
  new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (data) => {
        text += data;
      });
    child.on('error', (error) => resolve({ code: 1, text: error.message }));
    child.on('close', (code) => resolve({ code, text }));
  });

/** Throws unless the program exits with 0 and, if `wanted` is given, prints that. */
async function passes(program, args, cwd, { env, wanted = '' } = {}) {
  const { code, text } = await output(program, args, cwd, env);
  if (code !== 0 || !text.includes(wanted)) throw new Error(`${program} ${args.join(' ')}: exit code ${code}\n${text}`);
}

/** Throws unless the program fails and prints `wanted`. */
async function refuses(program, args, cwd, wanted) {
  const { code, text } = await output(program, args, cwd);
  if (code === 0 || !text.includes(wanted))
    throw new Error(`Expected ${program} ${args.join(' ')} to fail with ${wanted}, exit code ${code}\n${text}`);
}

const node = process.execPath;
const measured = { wanted: 'measured' };
/** Caches and stores of package managers stay in the folder. */
const atHome = (name) => ({ env: { HOME: makeFolder(`home-${name}`, {}), CI: '1' } });

/** Installs with a package manager, then measures. */
async function installed(name, program, args, others = {}) {
  const project = makeFolder(name, { ...files, ...others });
  await passes(program, args, project, atHome(name));
  await passes(node, ['import.mjs'], project, measured);
  return project;
}

async function withNpm12(program) {
  const project = makeFolder('npm12', files);
  // It runs no scripts of dependencies unless it is told to.
  await passes(program, [tool('npm12/bin/npm-cli.js'), 'install', tarball], project);
  await passes(program, ['import.mjs'], project, measured);
}

async function withBerry() {
  const settings = 'nodeLinker: node-modules\nenableScripts: false\nenableTelemetry: false\nenableGlobalCache: false\n';
  const files = { '.yarnrc.yml': settings, 'yarn.lock': '' };
  return installed(
    'berry',
    node,
    [tool('@yarnpkg/cli-dist/bin/yarn.js'), 'add', `gpu-virt-bench@file:${tarball}`],
    files,
  );
}

/** Node before 20.19 and 22.12 loads no modules by require, and says so. */
async function underNode(program, project, loadsByRequire) {
  await passes(program, ['import.mjs'], project, measured);
  await passes(program, ['thread.mjs'], project, measured);
  if (loadsByRequire) await passes(program, ['require.cjs'], project, measured);
  else await refuses(program, ['require.cjs'], project, 'ERR_REQUIRE_ESM');
}

async function inJest(project) {
  const env = { NODE_OPTIONS: '--experimental-vm-modules' };
  const args = ['--rootDir', project, '--testMatch', '**/*.test.mjs'];
  await passes(node, [tool('jest/bin/jest.js'), ...args], project, { env, wanted: '1 passed' });
}

const inVitest = (project) =>
  passes(node, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', project], project, {
    wanted: '1 passed',
  });

/** Marked external it works; inside the bundle it says what to do. */
async function withBundler(project, name, argsOf, external) {
  for (const format of ['esm', 'cjs']) {
    for (const isExternal of [true, false]) {
      const file = `${name}-${isExternal ? 'outside' : 'inside'}.${format === 'esm' ? 'mjs' : 'cjs'}`;
      await passes(node, [...argsOf(format, file), ...(isExternal ? [external] : [])], project);
      if (!isExternal) await refuses(node, [file], project, 'mark it external');
      // A bundle in the form of CommonJS loads the package by require.
      else await passes(node, [file], project, measured);
    }
  }
}

const esbuild = (format, file) => [
  tool('esbuild/bin/esbuild'),
  'import.mjs',
  '--bundle',
  '--platform=node',
  '--log-level=error',
  `--format=${format}`,
  `--outfile=${file}`,
];
const rolldown = (format, file) => [
  join(root, 'node_modules/rolldown/bin/cli.mjs'),
  'import.mjs',
  '--platform=node',
  `--format=${format}`,
  '--dir=.',
  `--entryFileNames=${file}`,
  `--chunkFileNames=[hash]-${file}`,
  '--logLevel=silent',
];

/** Runs the checks side by side, prints each, and returns the messages of those that failed. */
async function all(checks) {
  const failures = [];
  const waiting = Object.entries(checks);
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, check] = next;
      const started = performance.now();
      const failure = await check().then(
        () => null,
        (error) => error.message,
      );
      const seconds = ((performance.now() - started) / 1_000).toFixed(0);
      console.log(`  ${failure === null ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
      if (failure !== null) failures.push(`${name}:\n${failure}`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return failures;
}

const quiet = ['--no-audit', '--no-fund'];
run('npm', ['install', '--ignore-scripts', ...quiet, ...tools], toolFolder);
const nodes = Object.fromEntries(
  [OLDEST, ...LINES].map((version) => [version, otherNode(version, process.arch, folder)]),
);
const project = makeFolder('npm', files);
run('npm', ['install', '--ignore-scripts', ...quiet, tarball], project);

const versionOf = (program) => run(program, ['--version'], folder).trim();
const npm = run('npm', ['--version'], folder).trim();
const checks = {
  [`npm ${npm}, without scripts: import, require and thread on Node ${process.version}`]: () =>
    underNode(node, project, true),
  'npm 12': () => withNpm12(nodes[NODE_OF_NPM_12]),
  'pnpm 10': () => installed('pnpm', node, [tool('pnpm/bin/pnpm.cjs'), 'add', '--ignore-scripts', tarball]),
  'yarn 1': () => installed('yarn', node, [tool('yarn/bin/yarn.js'), 'add', '--ignore-scripts', `file:${tarball}`]),
  'yarn 4, with node_modules': withBerry,
  ...Object.fromEntries(
    Object.entries(nodes).map(([version, program]) => [
      `Node ${versionOf(program)}: import, ${version === OLDEST ? 'refusal of require' : 'require'} and thread`,
      () => underNode(program, project, version !== OLDEST),
    ]),
  ),
  'jest, with modules': () => inJest(project),
  vitest: () => inVitest(project),
  'esbuild: outside and inside the bundle': () => withBundler(project, 'esbuild', esbuild, '--external:gpu-virt-bench'),
  'rolldown: outside and inside the bundle': () =>
    withBundler(project, 'rolldown', rolldown, '--external=gpu-virt-bench'),
};
const failures = await all(checks);
if (failures.length > 0) fail(failures.join('\n'));
console.log(`${Object.keys(checks).length} ways of installing and using the package work.`);

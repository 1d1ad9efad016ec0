/** Code in pages and in the comments of exported functions: it compiles strictly against the package's types, and it runs. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cardIn, emptyFolder, root, simulatedFolder } from '../cli/command.js';
import { WAIT_MS } from '../limits.js';
import { ownRegion } from '../temporary.js';
import { LATE_CLIENT } from '../undisturbed.js';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const blocks = (text: string): string[] =>
  [...text.matchAll(/^```(?:ts|js)\n(.*?)^```$/gms)].map(([, code = '']) => code);

const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)];

/** Every example by the function that it explains; `@example` ends at the end of its comment. */
function examplesOfFunctions(): [string, string][] {
  const types = read('dist/index.d.ts');
  return [
    ...types.matchAll(/\/\*\*((?:(?!\*\/).)*?@example.*?)\*\/\s*(?:export )?declare (?:function|const) (\w+)/gs),
  ].map(([, comment = '', name = '']) => [name, comment.replace(/^ \* ?/gm, '')]);
}

const sources: [string, string][] = [
  ...pages.map((page): [string, string] => [page, read(page)]),
  ...examplesOfFunctions(),
];
const examples = sources.flatMap(([from, text]) =>
  blocks(text).map((code, i) => ({
    name: i === 0 ? from : `${from} (${i + 1})`,
    file: `${basename(from)}-${i}`,
    code,
  })),
);

const folder = emptyFolder();
let server: ChildProcess;
let address: string;

/** What an example names and this machine lacks: a layer, MPS, a server, and the minutes of a real measurement. */
const standIns = (code: string): string =>
  code
    .replaceAll('/path/layer.so', join(folder, 'layer.so'))
    .replaceAll("'mps:sm=50'", "'custom:name=other,env.OTHER=1'")
    .replaceAll('http://127.0.0.1:8000', address)
    .replaceAll('requests: 200', 'requests: 20')
    .replaceAll('ratePerSecond: 4', 'ratePerSecond: 20')
    .replaceAll('workloads: [', "rounds: 1,\n  tier: 'quick',\n  workloads: [")
    .replaceAll("name: 'decode',", "name: 'decode',\n  warmup: 0,\n  iterations: 1,")
    .replaceAll("for: 'serving'", "metrics: ['OH-002']");

/** Everything is compiled at once, because the compiler takes seconds to start. */
function compile(): string {
  const typeRoots = [join(root, 'node_modules/@types')];
  const compilerOptions = { typeRoots, noEmit: false, outDir: join(folder, 'js'), skipLibCheck: false };
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const compiler = join(root, 'node_modules/typescript7/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8', timeout: WAIT_MS });
  return stdout;
}

let errors: string;
beforeAll(async () => {
  server = spawn(process.execPath, [join(root, 'examples/openai-server/server.mjs'), '--first-token-ms', '5'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  address = await new Promise((resolve) => {
    server.stdout?.once('data', (line: Buffer) => resolve(/http:\/\/[\d.:]+/.exec(String(line))?.[0] ?? ''));
  });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/gpu-virt-bench'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  copyFileSync(join(root, 'build/Release/libgvb-interpose.so'), join(folder, 'layer.so'));
  writeFileSync(join(folder, 'decode.py'), 'print("812.5 tokens/s")\n');
  for (const { file, code } of examples) writeFileSync(join(folder, `${file}.ts`), standIns(code));
  writeFileSync(join(folder, 'wrong.ts'), "import { measureKernelLaunch } from 'gpu-virt-bench';\n(await measureKernelLaunch()).value.toFixed();\n"); // prettier-ignore
  errors = compile();
});

afterAll(() => server.kill());

it('are found in pages and at the main functions', () => {
  const names = examples.map(({ name }) => name);
  const functions = ['runMetrics', 'compareSystems', 'execWorkloads', 'renderReport', 'startMonitor', 'runLoad'];
  for (const name of [
    'README.md',
    'docs/load.md',
    'docs/monitor.md',
    'measureKernelLaunch',
    'listDevices',
    ...functions,
  ])
    expect(names).toContain(name);
  // None is an example that only looks like one.
  expect(read('dist/index.d.ts').split('@example')).toHaveLength(examplesOfFunctions().length + 1);
});

it('compile, and the compiler sees a mistake', () => {
  const lines = errors.split('\n').filter((line) => /^\S/.test(line));
  expect(lines).toEqual([expect.stringMatching(/wrong\.ts\(2,1\).*Object is possibly 'null'/)]);
});

it.each(examples)('run: $name', ({ file }) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'js', `${file}.js`)], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: emptyFolder(),
      LC_ALL: 'C.UTF-8',
      LD_LIBRARY_PATH: simulatedFolder,
      GVB_SIM: cardIn(ownRegion('example')),
    },
    encoding: 'utf8',
    timeout: WAIT_MS,
  });
  // An example refuses the numbers of a busy machine, as it should.
  const isDisturbed = LATE_CLIENT.test(stderr);
  expect({ status, said: status === 0 || isDisturbed ? '' : stderr }).toEqual({
    status: isDisturbed ? 1 : 0,
    said: '',
  });
  expect(stdout).not.toContain('undefined');
});

/** Adds a metric to a copy of the checkout, to see which files must be written by hand and which are generated. */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunDocument } from '../../lib/results/document.js';
import { emptyFolder, root } from '../cli/command.js';
import { WAIT_MS } from '../limits.js';
import { ownRegion } from '../temporary.js';

const copied = ['.prettierrc.json', 'lib', 'scripts', 'docs', 'examples', 'schema', 'test', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'vitest.config.ts']; // prettier-ignore
/** Folders that are linked, because they are only read. */
const linked = ['node_modules', 'build', 'bench', 'native'];

const METRIC = 'lib/metrics/overhead/oh-900-toy.ts';
const ACCURACY_TEST = 'test/truth/pairs/toy.test.ts';

const copy = emptyFolder();
const written = (path: string) => join(copy, path);
const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}.txt`, import.meta.url), 'utf8');
const run = promisify(execFile);

function copyCheckout(): void {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...copied];
  const paths = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const path of paths.filter((path) => path !== '')) {
    mkdirSync(dirname(written(path)), { recursive: true });
    cpSync(join(root, path), written(path));
  }
  for (const name of linked) symlinkSync(join(root, name), written(name));
}

/** Every file of the copy except those that are linked or built. */
function contents(): Map<string, string> {
  const folders = copied.flatMap((name) =>
    statSync(written(name)).isDirectory()
      ? readdirSync(written(name), { recursive: true, encoding: 'utf8' }).map((path) => join(name, path))
      : [name],
  );
  const files = folders.filter((path) => statSync(written(path)).isFile());
  return new Map(files.map((path) => [path, readFileSync(written(path), 'utf8')]));
}

const changed = (before: Map<string, string>, after: Map<string, string>): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path)).sort();

/** Throws the program's output if it fails. */
async function node(...args: string[]): Promise<string> {
  const settings = `region=${ownRegion('toy')},alloc_us=20`;
  const env = { PATH: process.env.PATH, HOME: emptyFolder(), TMPDIR: emptyFolder(), GVB_SIM: settings };
  const options = { cwd: copy, env, timeout: WAIT_MS, maxBuffer: 2 ** 26 };
  return (await run(process.execPath, args, options)).stdout;
}

function addByHand(): void {
  writeFileSync(written(METRIC), fixture('oh-900-toy.ts'));
  writeFileSync(written(ACCURACY_TEST), fixture('toy.test.ts'));
}

const typescript = 'node_modules/typescript/bin/tsc';
const commandLine = 'dist/cli/main.js';
let byHand: string[];
let generated: string[];

beforeAll(async () => {
  copyCheckout();
  const before = contents();
  addByHand();
  const edited = contents();
  byHand = changed(before, edited);
  // Types are checked below, for the whole checkout.
  await node('scripts/build-ts.js', '--no-check');
  for (const script of ['docs', 'schema']) await node(`scripts/${script}.js`);
  generated = changed(edited, contents());
});

describe('adding a metric', () => {
  it('touches its file and its test; everything else is generated', () => {
    expect(byHand).toEqual([METRIC, ACCURACY_TEST].sort());
    expect(generated).toEqual(['docs/metrics.md', 'lib/metrics/functions.ts', 'lib/metrics/registry.ts']);
  });

  it('leaves the types of the whole checkout valid', async () => {
    // A larger young generation: much of the compiler's time is garbage collection.
    expect(await node('--max-semi-space-size=64', typescript, '--noEmit')).toBe('');
  });

  it('lists, documents, measures and draws it, and exports its function', async () => {
    expect(await node(commandLine, 'list')).toMatch(/^OH-900 .*Toy Allocation Latency/m);
    expect(readFileSync(written('docs/metrics.md'), 'utf8')).toMatch(/\*\*OH-900\*\* Toy Allocation Latency/);
    const library = "console.log(typeof (await import('./dist/index.js')).measureToy)";
    expect(await node('--input-type=module', '-e', library)).toBe('function\n');
    const text = await node(commandLine, 'run', 'OH-900', '--simulate', '--json', '-', '--html', 'toy.html');
    const { metrics } = JSON.parse(text) as RunDocument;
    expect(metrics).toHaveLength(1);
    expect(metrics[0]).toMatchObject({ id: 'OH-900', status: 'ok', details: { rows: [{}, {}, {}] } });
    // No call takes less than the simulated driver spins for it.
    expect(metrics[0]?.value).toBeGreaterThanOrEqual(20);
    expect(readFileSync(written('toy.html'), 'utf8')).toContain('Toy latency against live blocks');
  });
});

/** A copy of the checkout, to see which files must be written by hand when something is added, and which are generated. */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { emptyFolder, root } from '../cli/command.js';
import { TEST_MS, WAIT_MS } from '../limits.js';
import { ownRegion } from '../temporary.js';

const copied = ['.prettierrc.json', 'HACKING.md', 'README.md', 'lib', 'scripts', 'docs', 'examples', 'schema', 'test', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'vitest.config.ts']; // prettier-ignore
/** Folders that are linked, because they are only read. */
const linked = ['node_modules', 'build', 'bench', 'native'];

const run = promisify(execFile);
const commandLine = 'dist/cli/main.js';
const typescript = 'node_modules/typescript7/bin/tsc';
const vitest = 'node_modules/vitest/vitest.mjs';

export const fixture = (name: string): string => readFileSync(new URL(`fixtures/${name}.txt`, import.meta.url), 'utf8');

export class CheckoutCopy {
  readonly #folder = emptyFolder();
  /** Settings of the simulated card, after its region. */
  readonly #sim: string;
  readonly #region = ownRegion('toy');

  constructor(sim: string) {
    this.#sim = sim;
    const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...copied];
    const paths = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0');
    for (const path of paths.filter((path) => path !== '')) {
      mkdirSync(dirname(this.at(path)), { recursive: true });
      cpSync(join(root, path), this.at(path));
    }
    for (const name of linked) symlinkSync(join(root, name), this.at(name));
  }

  at(path: string): string {
    return join(this.#folder, path);
  }

  text(path: string): string {
    return readFileSync(this.at(path), 'utf8');
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), text);
  }

  /** Puts lines before the only line that is `line`. */
  insertBefore(path: string, line: string, lines: string): void {
    const parts = `\n${this.text(path)}`.split(`\n${line}\n`);
    if (parts.length !== 2) throw new Error(`Expected ${path} to have the line once: ${line}`);
    this.write(path, parts.join(`\n${lines}${line}\n`).slice(1));
  }

  /** Makes the edits, then builds and generates; returns the files that each of both changed. */
  async add(byHand: () => void): Promise<{ byHand: string[]; generated: string[] }> {
    const before = this.#contents();
    byHand();
    const edited = this.#contents();
    // Types are checked by `typeErrors`, for the whole checkout.
    await this.node('scripts/build-ts.js', '--no-check');
    for (const script of ['docs', 'schema']) await this.node(`scripts/${script}.js`);
    return { byHand: changed(before, edited), generated: changed(edited, this.#contents()) };
  }

  /** Returns what the program prints; if it fails, the error says that too. */
  async node(...args: string[]): Promise<string> {
    const settings = [`region=${this.#region}`, this.#sim].join(',');
    const env = { PATH: process.env.PATH, HOME: emptyFolder(), TMPDIR: emptyFolder(), GVB_SIM: settings };
    const options = { cwd: this.#folder, env, timeout: WAIT_MS, maxBuffer: 2 ** 26 };
    try {
      return (await run(process.execPath, args, options)).stdout;
    } catch (error) {
      const { message, stdout } = error as Error & { stdout: string };
      throw new Error(`${message}${stdout}`, { cause: error });
    }
  }

  command(...args: string[]): Promise<string> {
    return this.node(commandLine, ...args);
  }

  /** Checks the types of the whole checkout, tests included; resolves to nothing if they are right. */
  typeErrors(): Promise<string> {
    return this.node(typescript, '--noEmit');
  }

  /** Runs tests that need no build; the error has the output of those that fail. */
  async pass(...tests: string[]): Promise<void> {
    // That of the checkout would build it first. Like there, files share processes.
    this.write('plain.config.js', `export default { test: { testTimeout: ${TEST_MS}, isolate: false } };\n`);
    await this.node(vitest, 'run', '--config', 'plain.config.js', ...tests);
  }

  /** Every file of the copy except those that are linked or built. */
  #contents(): Map<string, string> {
    const paths = copied.flatMap((name) =>
      statSync(this.at(name)).isDirectory()
        ? readdirSync(this.at(name), { recursive: true, encoding: 'utf8' }).map((path) => join(name, path))
        : [name],
    );
    return new Map(paths.filter((path) => statSync(this.at(path)).isFile()).map((path) => [path, this.text(path)]));
  }
}

const changed = (before: Map<string, string>, after: Map<string, string>): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path)).sort();

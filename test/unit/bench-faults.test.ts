/** What the fault campaign takes for a fault, and that a case is the same each time. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../temporary.js';
import { measured } from './report/fixtures.js';
import { runDocument } from './run/fixtures.js';

interface Choices {
  below: (most: number) => number;
}
interface Made {
  kind: string;
  args: string[];
  input: string;
}
const bench = async (name: string): Promise<unknown> =>
  import(new URL(`../../bench/faults/${name}.js`, import.meta.url).href) as Promise<unknown>;
const { faultsOf } = (await bench('checks')) as { faultsOf: (outcome: object, made: object) => string[] };
const { choicesOf } = (await bench('choices')) as { choicesOf: (seed: number, number: number) => Choices };
const { inputCase } = (await bench('inputs')) as {
  inputCase: (choices: Choices, cwd: string, given: { directories: string[] }) => Made;
};
const { processCase } = (await bench('processes')) as {
  processCase: (choices: Choices, cwd: string, given: { full: null }) => Made;
};

const folder = temporaryFolder('faults');
const temporary = join(folder, 'empty');
mkdirSync(temporary);
const fine = {
  code: 2,
  signal: null,
  stdout: '',
  stderr: "error: Expected --rounds to be a number but received 'x'.\n",
};
const made = { input: 'compare', temporary, measured: true };

it('finds nothing in a refusal, and in a signal that was sent', () => {
  expect(faultsOf(fine, made)).toEqual([]);
  expect(faultsOf({ ...fine, code: null, signal: 'SIGTERM' }, { ...made, killed: ['SIGTERM'] })).toEqual([]);
});

it.each<[string, object, RegExp]>([
  ['an exit code that is not documented', { code: 13 }, /exit code 13/],
  ['a signal that nobody sent', { code: null, signal: 'SIGSEGV' }, /ended by SIGSEGV/],
  ['a stack trace', { stderr: 'error: x\n    at f (file:///app/dist/chunks/a.js:5:7)\n' }, /a stack trace/],
  ['an uncaught error', { stderr: 'error: x\nUnhandled rejection\n' }, /a crash/],
  ['a refusal without a reason', { stderr: '' }, /without an error/],
  ['two errors', { stderr: 'error: a\nerror: b\n' }, /more than one error/],
  ['a message of what is not there', { stderr: 'error: Expected a file but received undefined.\n' }, /was not there/],
  ['a hang', { timedOut: true }, /did not end in time/],
  ['a process that is left', { left: ['17 sleep'] }, /processes are left: 17 sleep/],
  ['an error that escaped', { escaped: ['unhandledRejection: x'] }, /unhandledRejection/],
])('finds %s', (_, change, says) => {
  expect(faultsOf({ ...fine, ...change }, made).join('\n')).toMatch(says);
});

it('finds a file that is left', () => {
  const left = join(folder, 'left');
  mkdirSync(join(left, 'gvb-x'), { recursive: true });
  expect(faultsOf(fine, { ...made, temporary: left })).toEqual([expect.stringMatching(/^left in TMPDIR: .*gvb-x/)]);
});

it('finds half of a document, and a number of a failed metric', () => {
  const path = join(folder, 'x.json');
  const faultsIn = (text: string) => {
    writeFileSync(path, text);
    return faultsOf(fine, { ...made, documents: [path] });
  };
  const document = runDocument();
  expect(faultsIn(JSON.stringify(document))).toEqual([]);
  expect(faultsIn(JSON.stringify(document).slice(0, -1))).toEqual([expect.stringMatching(/half-written/)]);
  const failed = { ...measured('OH-001', 5, 0), status: 'failed', reason: 'why' };
  expect(faultsIn(JSON.stringify({ ...document, metrics: [failed] }))).toEqual([expect.stringMatching(/not valid/)]);
});

it('makes the same case of the same seed and number, and another one of another', () => {
  const directory = join(folder, 'directory');
  mkdirSync(directory);
  writeFileSync(join(directory, 'summary.json'), JSON.stringify(runDocument()));
  let count = 0;
  const filesIn = (cwd: string) =>
    (
      readdirSync(cwd, { recursive: true, withFileTypes: true }) as {
        parentPath: string;
        name: string;
        isFile(): boolean;
      }[]
    )
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'base64'));
  const cases = (make: (choices: Choices, cwd: string) => Made, seed: number) =>
    Array.from({ length: 20 }, (_, i) => {
      const cwd = join(folder, `case-${count++}`);
      const { kind, args, input } = make(choicesOf(seed, i), cwd);
      return [kind, args, input.replaceAll(cwd, ''), filesIn(cwd)];
    });
  const makers = [
    (choices: Choices, cwd: string) => inputCase(choices, cwd, { directories: [directory] }),
    (choices: Choices, cwd: string) => processCase(choices, cwd, { full: null }),
  ];
  for (const make of makers) {
    expect(cases(make, 1)).toEqual(cases(make, 1));
    expect(cases(make, 1)).not.toEqual(cases(make, 2));
  }
});

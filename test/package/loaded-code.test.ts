/** What processes load of dist/: comparisons start many of them, and each parses what it loads. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../cli/command.js';

const STATIC = /\b(?:from|import)"([^"]+)"/g;
const ON_DEMAND = /\bimport\(`([^`]+)`\)/g;
const dist = join(root, 'dist');

/** Files of dist/ and packages that this file needs before it runs. */
function loadedWith(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const name of importsOf(file, STATIC)) {
    if (name.startsWith('.')) loadedWith(join(dirname(file), name), seen);
    else seen.add(name);
  }
  return seen;
}

function importsOf(file: string, form: RegExp): string[] {
  return [...readFileSync(join(dist, file), 'utf8').matchAll(form)].map(([, name = '']) => name);
}

it('a worker loads nothing of the command line, whatever it is asked for', () => {
  const onDemand = ['worker/main.js', 'chunks/worker.js'].flatMap((file) =>
    importsOf(file, ON_DEMAND).map((name) => join(dirname(file), name)),
  );
  expect(onDemand).toContain('metrics/registry.js');
  const loaded = new Set(['worker/main.js', ...onDemand].flatMap((file) => [...loadedWith(file)]));
  expect([...loaded]).toEqual(expect.arrayContaining(['chunks/measuring.js', 'valibot']));
  const ofCommands = [
    'chunks/program.js',
    'chunks/measuring-command.js',
    'commander',
    'cli-table3',
    'picomatch',
    'yaml',
  ];
  expect(ofCommands.filter((name) => loaded.has(name))).toEqual([]);
});

it('a command that measures does not load the YAML library before it reads YAML', () => {
  const loaded = loadedWith('chunks/measuring-command.js');
  expect(loaded).toContain('cli-table3');
  expect(loaded).not.toContain('yaml');
});

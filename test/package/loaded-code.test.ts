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

/** What a worker loads for a request to measure, before and without its metric's own file. */
const ofMeasurement = ['worker/main.js', 'chunks/worker.js'].flatMap((file) =>
  importsOf(file, ON_DEMAND).map((name) => join(dirname(file), name)),
);
const isMetric = (file: string): boolean => /^chunks\/metric-[a-z]+-\d+\.js$/.test(file);
const MEASURING = ['chunks/measuring-processes.js', 'chunks/measuring-command.js', 'metrics/registry.js'];

it('a worker loads nothing of the command line, whatever it is asked for', () => {
  expect(ofMeasurement).toContain('chunks/measure.js');
  const loaded = new Set(['worker/main.js', ...ofMeasurement].flatMap((file) => [...loadedWith(file)]));
  expect([...loaded]).toEqual(expect.arrayContaining(['chunks/measuring.js', 'chunks/valibot.js']));
  // These have commander, picomatch and cli-table3 inside.
  const ofCommands = ['chunks/program.js', 'chunks/listing.js', 'chunks/yaml.cjs'];
  expect([...ofCommands, ...MEASURING].filter((name) => loaded.has(name))).toEqual([]);
});

it('a worker loads one metric of all, that which it measures', () => {
  const metrics = ofMeasurement.filter((file) => [...loadedWith(file)].some(isMetric));
  expect(metrics.length).toBeGreaterThan(10);
  for (const file of metrics) {
    const loaded = [...loadedWith(file)];
    expect(loaded.filter(isMetric)).toHaveLength(1);
    expect(loaded.filter((each) => MEASURING.includes(each))).toEqual([]);
  }
});

it.each(['index.js', 'cli/main.js', 'chunks/list.js'])('%s is loaded without what measures', (file) => {
  const loaded = [...loadedWith(file)];
  expect(loaded.length).toBeGreaterThan(1);
  const measuring = [...MEASURING, 'chunks/valibot.js'];
  expect(loaded.filter((each) => isMetric(each) || measuring.includes(each))).toEqual([]);
});

it.each([
  'checkpoint/checkpoint',
  'systems/kinds/container/container',
  'systems/kinds/mps/mps',
  'systems/kinds/nvshare/nvshare',
  'systems/kinds/pod/pod',
])('the guardian %s loads no more than guardians need', (name) => {
  const loaded = [...loadedWith(`${name}-guardian.js`)].filter((each) => each.startsWith('chunks/'));
  expect(loaded).toContain('chunks/guarding.js');
  const ofGuardians = ['chunks/guarding.js', 'chunks/owners.js', 'chunks/worker.js'];
  expect(loaded.filter((each) => !ofGuardians.includes(each))).toEqual([]);
});

it('a command that measures does not load the YAML library before it reads YAML', () => {
  const loaded = loadedWith('chunks/measuring-command.js');
  const files = [...loaded].filter((file) => !file.includes(':'));
  const required = files.filter((file) => readFileSync(join(dist, file), 'utf8').includes('(`./yaml.cjs`)'));
  expect(required).toEqual(['chunks/measuring-command.js']);
  expect([...loaded].filter((file) => file.includes('yaml'))).toEqual([]);
});

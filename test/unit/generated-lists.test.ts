/** What one file lists is listed nowhere else by hand, where it would not follow. */
import { describe, expect, it } from 'vitest';
import * as functions from '../../lib/metrics/functions.js';
import { metrics } from '../../lib/metrics/registry.js';
import { functionNames } from '../../lib/native/function-names.js';
import { formats } from '../../lib/report/formats.js';
import { sections } from '../../lib/report/sections.js';
import { kinds } from '../../lib/systems/registry.js';
import { requests } from '../../lib/worker/requests.js';
import { programKeys } from '../../lib/workloads/metrics/program-metrics.js';
import { sourcesIn, textOf } from './source-files.js';

const lists: Readonly<Record<string, readonly string[]>> = {
  'ids of metrics': metrics.map(({ id }) => id),
  'functions of metrics': Object.keys(functions),
  'kinds of systems': Object.keys(kinds),
  'types of settings': namesIn(textOf('lib/settings-types.ts'), /^export (?:interface|type) (\w+)/gm),
  'requests of a worker': Object.keys(requests),
  'functions of the addon': namesIn(/^export interface NativeAddon \{$[^]*?^\}$/m.exec(textOf('lib/native/addon-types.ts'))?.[0] ?? '', /^ {2}(\w+)[(:]/gm), // prettier-ignore
  'functions of the driver': functionNames,
  'formats of a report': formats,
  'sections of a report': sections.map(({ id }) => id),
  'metrics of a program': programKeys,
};

/** One file has the list: it generates, or describes, what is in it. */
const places = [
  ...['lib/report/formats.ts', 'lib/report/sections.ts', 'lib/workloads/metrics/program-metrics.ts'],
  ...sourcesIn('lib').filter((file) => /\bGenerated\b/.test(textOf(file).slice(0, 300))),
];

/** A choice of some is no copy. */
const MOST = 0.8;

function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, name]) => name ?? []);
}

/** Whether a text names nearly all of a list, as words or texts. */
function isCopy(text: string, list: readonly string[]): boolean {
  const words = new Set(text.match(/[\w-]+/g));
  return list.filter((name) => words.has(name)).length > MOST * list.length;
}

describe.each(Object.entries(lists))('the list of %s', (_, list) => {
  it('is written by hand in no other file', () => {
    expect(list.length).toBeGreaterThan(4);
    const files = ['lib', 'scripts'].flatMap(sourcesIn).filter((file) => !places.includes(file));
    expect(files.filter((file) => isCopy(textOf(file), list))).toEqual([]);
  });

  it('would be found', () => expect(isCopy(list.map((name) => `  '${name}',`).join('\n'), list)).toBe(true));
});

/** Seeded changes of the examples' YAML files: they are read, or refused with their place. */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../lib/errors/usage-error.js';
import { parseThresholds } from '../../lib/gate/thresholds-file.js';
import { metrics } from '../../lib/metrics/registry.js';
import { parseConfig } from '../../lib/systems/input/config.js';
import { parseExecConfig } from '../../lib/workloads/settings/exec-config.js';
import { changedText, seeded } from './fuzz.js';

const folder = new URL('../../examples/', import.meta.url);
const examples = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => readFileSync(new URL(name, folder), 'utf8'));

const pieces = [
  ...[
    '!!binary aGk=',
    '!!set {a}',
    '!!omap',
    '!!float x',
    '!<tag:x> ',
    '!',
    '&a ',
    '*a',
    '<<: *a',
    '%TAG ! x\n',
    '---\n',
    '...\n',
  ],
  ...[
    '[',
    ']',
    '{',
    '}',
    ',',
    ': ',
    '- ',
    '? ',
    '|\n',
    '>-\n',
    '#',
    '"',
    "'",
    '\\u12',
    '\t',
    '\n',
    '\r',
    '\0',
    '\uFEFF',
  ],
  ...['[[[[[[[[[[', '- - - - ', '&a [*a]', '__proto__: { a: b }', 'constructor: x', '1e999', 'NaN', '~', '\ud800', '%'],
  ...[
    'name: ',
    'argv: []',
    'matrix: { a: [1, 2] }',
    'metrics: {}',
    'systems: []',
    'load: ',
    'env: { A: b }',
    'timeout: -1',
  ],
];

const surroundings = { caller: { PATH: '/usr/bin' }, folder: '/work' };
const readers: Record<string, (text: string) => unknown> = {
  systems: (text) => parseConfig(text, 'f.yaml', surroundings),
  workloads: (text) => parseExecConfig(text, 'f.yaml', surroundings),
  thresholds: (text) => parseThresholds(text, 'f.yaml', metrics),
};

/** Null if the text is read. */
function refusal(read: (text: string) => unknown, text: string): unknown {
  try {
    read(text);
    return null;
  } catch (error) {
    return error;
  }
}

describe.each(Object.entries(readers))('a changed file, read for its %s', (_, read) => {
  it('is read, or refused in one sentence with its place', () => {
    let refused = 0;
    fc.assert(
      fc.property(changedText(examples, pieces), (text) => {
        const error = refusal(read, text);
        if (error === null) return;
        refused++;
        expect(error).toBeInstanceOf(UsageError);
        expect((error as Error).message).toMatch(/^f\.yaml:\d+:\d+: \S/);
      }),
      seeded(600),
    );
    expect(refused).toBeGreaterThan(100);
  });
});

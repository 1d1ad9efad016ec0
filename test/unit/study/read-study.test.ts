/** study.yaml: what is refused, and where. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readStudy } from '../../../lib/study/read-study.js';
import { temporaryFolder } from '../../temporary.js';

const card = { name: 'A card', computeCapability: '8.6', multiprocessors: 68 };
const source = { title: 'A study', url: 'https://example.org/a', date: '2025-01', card };
const step = { name: 'costs', argv: ['compare', 'OH-002', '--system', 'hami-core:library={hami}'] };
const row = { name: 'launch', unit: 'us', metric: 'OH-001', published: { native: 6.2 } };
const table = { title: 'Costs', columns: { native: 'native' }, rows: [row] };
const whole = {
  question: 'Which?',
  source,
  parameters: { hami: { what: 'a library' } },
  steps: [step],
  tables: [table],
};

function folderOf(study: unknown): string {
  const folder = temporaryFolder('study');
  writeFileSync(join(folder, 'study.yaml'), typeof study === 'string' ? study : stringify(study));
  return folder;
}

const reading = (study: unknown, given: Record<string, string> = {}, isShort = false) =>
  readStudy(folderOf(study), { given: new Map(Object.entries(given)), isShort });

describe('a study', () => {
  it('has the values of its parameters, in which commas do not end a setting of a system', async () => {
    const [read] = (await reading(whole, { hami: '/a,b/libvgpu.so' })).steps;
    expect(read).toMatchObject({ lacks: [], needs: [] });
    expect(read?.argv.at(-1)).toBe('hami-core:library=/a\\,b/libvgpu.so');
  });

  it('lacks a parameter without a value, and leaves other braces alone', async () => {
    const other = { ...step, argv: [...step.argv, '--', 'echo', '{other}', '{"a": 1}'] };
    const [read] = (await reading({ ...whole, steps: [other] })).steps;
    expect(read?.lacks).toEqual(['hami']);
    expect(read?.argv.slice(-2)).toEqual(['{other}', '{"a": 1}']);
  });

  it('needs nothing but parameters when it is shortened', async () => {
    const needs = [{ what: 'it', program: 'it' }];
    const shortened = { ...step, needs, short: ['run', 'OH-001'] };
    const [read] = (await reading({ ...whole, steps: [shortened] }, {}, true)).steps;
    expect(read).toMatchObject({ argv: ['run', 'OH-001'], needs: [], lacks: [] });
    const [other] = (await reading({ ...whole, steps: [{ ...step, needs }] }, {}, true)).steps;
    expect(other).toMatchObject({ argv: step.argv, needs, lacks: ['hami'] });
  });

  const steps = (more: object) => ({ ...whole, steps: [{ ...step, ...more }] });
  const cards = (card: object) => ({ ...whole, source: { ...source, card: { name: 'A card', ...card } } });
  const rows = (more: object) => ({ ...whole, tables: [{ ...table, rows: [{ ...row, ...more }] }] });
  it.each<[string, unknown, RegExp]>([
    ['runs another command', steps({ argv: ['doctor'] }), /:\d+:\d+: .* begins with run, compare or exec/],
    ['is a text for a shell', steps({ argv: 'run | sh' }), /to be a command as a list of arguments/],
    [
      'names a parameter that it does not have',
      steps({ argv: ['run', '--seed', '{sede}', '--', '{own}'] }),
      /argv of .* parameters of the study but received '\{sede\}': it has hami/,
    ],
    ['says where results go', steps({ argv: ['run', '--output=/etc'] }), /without '--output=\/etc'/],
    ['says so when it is shortened', steps({ short: ['run', '--json', 'x'] }), /short of .* without '--json'/],
    ['would measure nothing', steps({ argv: ['run', '--dry-run'] }), /without '--dry-run'/],
    ['leads out of the results', steps({ name: '../../etc' }), /name of .* letters, digits/],
    [
      'has a key that does not exist',
      steps({ nedes: [] }),
      /study\.yaml:\d+:\d+: .* received 'nedes': it has name, argv/,
    ],
    [
      'has a need of two kinds',
      steps({ needs: [{ what: 'it', file: 'a', program: 'b' }] }),
      /program, file and try|one of/,
    ],
    ['has a step twice', { ...whole, steps: [step, step] }, /different names but received 'costs' twice/],
    ['names a step that is not there', rows({ step: 'others' }), /step of .* to be costs but received 'others'/],
    ['takes two numbers', rows({ stat: 'p99', detail: 'largest' }), /:\d+:\d+: .* stat or detail but received both/],
    [
      'takes a number by a path that is none',
      rows({ detail: 'starts[0]' }),
      /detail of .* such as starts\[processes=50\]/,
    ],
    ['has a figure of no column', rows({ published: { mps: 1 } }), /columns of the table, native, but received 'mps'/],
    [
      'has half of what a peak follows from',
      cards({ computeCapability: '8.6' }),
      /^\S+study\.yaml:\d+:\d+: Expected card of source of the study to have computeCapability and multiprocessors, or neither, but received computeCapability alone/,
    ],
    ['has the other half', cards({ multiprocessors: 68 }), /or neither, but received multiprocessors alone/],
    ['has an address that is no page', { ...whole, source: { ...source, url: 'javascript:1' } }, /https:\/\//],
    ['is not a map', '- 1', /a map with the key steps/],
    ['is empty', '', /a map with the key steps/],
    ['is YAML with a fault', 'a: [', /study\.yaml:1:/],
  ])('is refused if it %s', async (_, study, says) => expect(reading(study)).rejects.toThrow(says));

  it('may know nothing of the card but its name', async () =>
    expect((await reading(cards({}))).source.card).toEqual({ name: 'A card' }));

  it('may name what it repeats', async () => {
    const named = stringify({ ...whole, steps: [] }).replace('steps: []', '');
    const text = `${named}steps:
  - { name: first, argv: &common [compare, OH-001, --system, native] }
  - { name: second, argv: *common }
`;
    const { steps: read } = await reading(text);
    expect(read.map(({ name, argv }) => [name, ...argv])).toEqual(
      ['first', 'second'].map((name) => [name, 'compare', 'OH-001', '--system', 'native']),
    );
  });

  it('is refused if what it names grows without bounds, or contains itself', async () => {
    const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`);
    await expect(reading(['l0: &l0 [x, x]', ...levels, 'steps: *l9'].join('\n'))).rejects.toThrow(
      /study\.yaml:7:9: .* with what aliases name/,
    );
    await expect(reading('steps: &a [*a]')).rejects.toThrow(/study\.yaml:1:\d+: .* contains itself/);
  });

  it('refuses a value for a parameter that it does not have', async () =>
    expect(reading(whole, { mps: 'x' })).rejects.toThrow("parameter of the study but received 'mps': it has hami"));

  it('names a folder without study.yaml', async () =>
    expect(readStudy(temporaryFolder('none'), { given: new Map(), isShort: false })).rejects.toThrow(/study\.yaml/));
});

/** YAML that is large, deep or not plain. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readYaml } from '../../../lib/config/yaml.js';
import { readCdi } from '../../../lib/systems/kinds/container/cdi.js';
import { parseConfig } from '../../../lib/systems/input/config.js';
import { parseExecConfig } from '../../../lib/workloads/settings/exec-config.js';
import { temporaryFolder } from '../../temporary.js';

const surroundings = { caller: { PATH: '/usr/bin' }, folder: '/work' };

function refusal(text: string): string {
  try {
    parseConfig(text, 'f.yaml', surroundings);
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
}

const keys = (count: number, end: string) => Array.from({ length: count }, (_, i) => `K${i}: v${end}`).join('');

function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

describe('time to read', () => {
  const inputs: Record<string, (count: number) => void> = {
    'a map in lines': (count) => readYaml(keys(count, '\n'), 'f.yaml'),
    'a map in braces': (count) => readYaml(`{ ${keys(count, ', ')} }`, 'f.yaml'),
    'variables of a program': (count) =>
      parseExecConfig(`workloads: [{ name: w, argv: [p], env: { ${keys(count, ', ')} } }]`, 'f.yaml', surroundings),
    'parameters of a matrix': (count) =>
      expect(() =>
        parseExecConfig(
          `workloads: [{ name: w, argv: [p], matrix: { ${keys(count, ', ').replaceAll(/v,/g, '[v],')} } }]`,
          'f.yaml',
          surroundings,
        ),
      ).toThrow(/matrix/),
    'a device specification': (count) => {
      const folder = temporaryFolder();
      writeFileSync(
        join(folder, 'a.yaml'),
        `kind: a/b\ndevices: []\nannotations:\n${keys(count, '\n').replaceAll(/^/gm, '  ')}`,
      );
      expect(readCdi([folder]).unread).toEqual([]);
    },
  };

  it.each(Object.entries(inputs))('grows with the size of %s, and not with its square', (_, read) => {
    const [few, many] = [3_000, 24_000];
    read(few);
    const small = Math.max(...[1, 2, 3].map(() => processorMs(() => read(few))));
    // Eight times as much takes eight times as long; in pairs it would take 64 times.
    expect(processorMs(() => read(many)) / small).toBeLessThan(32);
  });
});

describe('what is not plain YAML', () => {
  it.each<[string, string]>([
    ['a: !!binary aGVsbG8=', "f.yaml:1:4: Expected YAML without tags but received '!!binary': write the value itself."],
    ['systems: !!set { native }', "f.yaml:1:10: Expected YAML without tags but received '!!set': "],
    ['systems:\n  - !!omap [a: b]', "f.yaml:2:5: Expected YAML without tags but received '!!omap': "],
    ['!<tag:yaml.org,2002:int> 5', "f.yaml:1:1: Expected YAML without tags but received '!<tag:yaml.org,2002:int>': "],
    ['%TAG !e! tag:x\n---\na: !e!y b', "f.yaml:3:4: Expected YAML without tags but received '!e!y': "],
    ['! a: b', "f.yaml:1:1: Expected YAML without tags but received '!': "],
    ['? !!str a\n: b', "f.yaml:1:3: Expected YAML without tags but received '!!str': "],
    [`a: ${'['.repeat(20_000)}`, 'f.yaml:1:104: Expected YAML of at most 100 levels but it is nested deeper.'],
    [`a: ${'{b: '.repeat(20_000)}`, 'Expected YAML of at most 100 levels but it is nested deeper.'],
    ['- '.repeat(20_000), 'f.yaml:1:201: Expected YAML of at most 100 levels but it is nested deeper.'],
    ['? '.repeat(20_000), 'Expected YAML of at most 100 levels but it is nested deeper.'],
    ['a: *b', "f.yaml:1:4: Expected YAML but no anchor 'b' stands before its alias."],
    ['a: &a\n  b: *a', "f.yaml:2:6: Expected YAML but the alias 'a' contains itself."],
    ['systems: []\n? [a]\n: b', 'f.yaml:2:3: Expected YAML but a key of a map is a list or a map.'],
    ['a: 1\nb: 2\na: 3', "f.yaml:3:1: Expected YAML but the keys of a map must be unique: 'a' is there twice."],
    ['--- a\n--- b\n', 'f.yaml:2:1: Expected YAML but a second document begins here.'],
  ])('is refused with its place (%#)', (text, says) => expect(refusal(text)).toContain(says));

  it('is refused in a device specification too', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'a.yaml');
    writeFileSync(file, 'kind: !!binary aGk=\ndevices: []\n');
    expect(readCdi([folder]).unread).toEqual([
      `${file}:1:7: Expected YAML without tags but received '!!binary': write the value itself.`,
    ]);
  });

  it('is named by the first part of a long text', () => {
    const message = refusal(`systems:\n  - kind: ${'a'.repeat(100_000)}`);
    expect(message).toMatch(/^f\.yaml:2:5: Expected a kind of system but received 'a{1000}…'/);
    expect(message.length).toBeLessThan(1_200);
  });
});

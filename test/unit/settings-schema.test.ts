/** The JSON Schemas of the files that users write, which editors use, agree with the readers. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { pricesIn } from '../../lib/costs/read-prices.js';
import { parseThresholds } from '../../lib/gate/thresholds-file.js';
import { metrics } from '../../lib/metrics/registry.js';
import { parseConfig } from '../../lib/systems/input/config.js';
import { parseExecConfig } from '../../lib/workloads/settings/exec-config.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const schemaOf = (name: string) =>
  new Ajv({ strict: false }).compile(JSON.parse(readFileSync(`${root}schema/${name}.schema.json`, 'utf8')) as object);
const config = schemaOf('config');
const thresholds = schemaOf('thresholds');
const surroundings = { caller: { PATH: '/usr/bin' }, folder: '/', allowMissing: true };

const read = (text: string) =>
  text.includes('workloads:')
    ? parseExecConfig(text, 'w.yaml', surroundings)
    : pricesIn(parseConfig(text, 'w.yaml', surroundings).top);

describe('schema/config.schema.json', () => {
  const files = readdirSync(`${root}examples`).filter((name) => name.endsWith('.yaml'));

  it.each(files)('accepts examples/%s, or the thresholds do', (name) => {
    const value: unknown = parse(readFileSync(`${root}examples/${name}`, 'utf8'));
    expect(config(value) || thresholds(value), JSON.stringify(config.errors)).toBe(true);
  });

  it.each([
    'systems: [native, { kind: mps, sm: 50, memory: 50% }]',
    'systems: [{ kind: hami-core, policy: disable, library: /x.so }]',
    'systems: [{ kind: custom, name: a, env: { A: 1 }, setup: [touch, x], verify: [{ smCount: [1, 2] }] }]',
    'systems: [native]\nprices: { cards: 3.5, systems: { native: { share: 50% } } }',
    'prices: { cards: { H200: 2 } }\nworkloads: [{ name: w, argv: [p, 4], exit: [0, 3], ready: { port: 80 }, stopAfter: 1 }]',
    'workloads: [{ name: w, argv: [p], matrix: { n: [1, 2] }, warmup: "{n}", monitor: false }]',
    'workloads: [{ name: w, argv: [p], ready: { port: 80 }, load: { url: "http://h/", requests: 3, concurrency: 1 } }]',
    'workloads: [{ name: w, argv: [p], tenants: [{ task: l2-thrash, limits: { sm: 5 } }] }]',
  ])('accepts what is read: %s', (text) => {
    expect(() => read(text)).not.toThrow();
    expect(config(parse(text)), JSON.stringify(config.errors)).toBe(true);
  });

  it.each([
    'systems: []',
    'systems: [{ kind: mps, sm: 0 }]',
    'systems: [{ kind: mps, smm: 5 }]',
    'systems: [{ kind: hami, sm: 5 }]',
    'systems: [{ kind: hami-core, policy: strong }]',
    'systems: [{ kind: custom }]',
    'systems: [{ kind: custom, name: a, verify: [{ smCounts: [1, 2] }] }]',
    'systems: [{ kind: custom, name: a, verify: [{ symbolExported: x, allocationCanary: 1GiB }] }]',
    'systems: [native]\nprices: { cards: 0 }',
    'systems: [native]\nprices: { cards: 1, systems: { native: { share: 50%, perHour: 1 } } }',
    'workloads: [{ argv: [p] }]',
    'workloads: [{ name: w, argv: p }]',
    'workloads: [{ name: w, argv: [p], ready: { line: a, port: 1 } }]',
    'workloads: [{ name: w, argv: [p], metrics: { m: { unit: s, direction: lower } } }]',
    'workloads: [{ name: w, argv: [p], ready: { port: 1 }, load: { url: "http://h/", requests: 3 } }]',
    'workloads: [{ name: w, argv: [p], tenants: [{ task: bandwidth }] }]',
  ])('refuses what is refused: %s', (text) => {
    expect(() => read(text)).toThrow();
    expect(config(parse(text))).toBe(false);
  });
});

describe('schema/thresholds.schema.json', () => {
  it.each(['{}', 'maxRegression: off', 'metrics: { OH-001: { limit: 8.5 }, OH-002: }', 'systems: [mps]'])(
    'accepts what is read: %s',
    (text) => {
      expect(() => parseThresholds(text, 'g.yaml', metrics)).not.toThrow();
      expect(thresholds(parse(text)), JSON.stringify(thresholds.errors)).toBe(true);
    },
  );

  it.each(['maxRegression: -1', 'missing: never', 'metrics: { OH-001: { limt: 1 } }', 'limit: 5'])(
    'refuses what is refused: %s',
    (text) => {
      expect(() => parseThresholds(text, 'g.yaml', metrics)).toThrow();
      expect(thresholds(parse(text))).toBe(false);
    },
  );
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPriced, type Prices } from '../../../lib/costs/read-prices.js';
import { Costing } from '../../../lib/costs/concluded.js';
import { readPrices, repriced } from '../../../lib/costs/repriced.js';
import type { ComparisonDocument } from '../../../lib/results/document.js';
import { temporaryFolder } from '../../temporary.js';
import { served } from './fixtures.js';
import { runDocument } from '../run/fixtures.js';
import { tenantPrices } from '../../../lib/costs/tenant-prices.js';
import { parseThresholds } from '../../../lib/gate/thresholds-file.js';
import { metricsOfWorkload } from '../../../lib/workloads/metrics/metrics-of-workload.js';
import { parseExecConfig } from '../../../lib/workloads/settings/exec-config.js';

const workloads = 'workloads:\n  - { name: w, argv: [prog] }\n';
const read = (prices: string): Prices => {
  const config = parseExecConfig(`${workloads}${prices}`, 'w.yaml', { caller: {}, folder: '/' });
  if (config.prices === null) throw new Error('Expected prices but the file has none.');
  return config.prices;
};

const GIB = 2 ** 30;
const card = { name: 'NVIDIA H200', memoryBytes: 140 * GIB };
const system = (name: string, memoryGib: number | null = null, smPercent: number | null = null) => ({
  name,
  unavailable: null,
  limits: () => ({ memoryBytes: memoryGib === null ? null : memoryGib * GIB, smPercent }),
});
const priced = (prices: string, ...systems: ReturnType<typeof system>[]) =>
  tenantPrices(read(prices), card, systems).systems;

describe('the file of docs/costs.md', () => {
  const page = readFileSync(new URL('../../../docs/costs.md', import.meta.url), 'utf8');
  const [file = ''] = [...page.matchAll(/^```yaml\n(prices:.*?)^```$/gms)].map(([, yaml = '']) => yaml);

  it('is read, and says what the page says of it', () => {
    const systems = [system('native'), system('hami-50', 70, 50), system('mps-30', null, 30), system('mig-1g')];
    expect(priced(file, ...systems)).toEqual([
      { system: 'native', sharePercent: 100, from: 'whole card', perHour: 3.5 },
      { system: 'hami-50', sharePercent: 50, from: 'memory limit', perHour: 1.75 },
      { system: 'mps-30', sharePercent: 40, from: 'prices', perHour: 1.4 },
      { system: 'mig-1g', sharePercent: null, from: 'prices', perHour: 0.6 },
    ]);
  });
});

describe('prices of a file', () => {
  it('are none without the key', () =>
    expect(parseExecConfig(workloads, 'w.yaml', { caller: {}, folder: '/' }).prices).toBeNull());

  it('are those of any card as one number, in USD', () => {
    expect(read('prices: { cards: 2 }')).toMatchObject({ currency: 'USD', cards: 2 });
    expect(priced('prices: { cards: 2 }', system('native'))).toMatchObject([{ perHour: 2 }]);
  });

  it.each([
    ['prices: 3', 'Expected prices of the configuration to be a map of keys to values but received 3.'],
    ['prices: {}', 'a map with cards, the price of a GPU hour by card, or systems'],
    ['prices: { cards: {} }', 'Expected cards of prices of the configuration to be a price of an hour, or a map'],
    ['prices: { cards: 0 }', 'to be a price of an hour above 0 and up to 1000000000, e.g. 3.50 but received 0.'],
    ['prices: { cards: -1 }', 'but received -1.'],
    ['prices: { cards: NaN }', "but received 'NaN'."],
    ['prices: { cards: 1e999 }', "but received '1e999'."],
    ['prices: { cards: $3 }', "but received '$3'."],
    ['prices: { cards: { H200: 0 } }', 'Expected H200 of cards of prices of the configuration to be a price'],
    ['prices: { cards: [1] }', 'to be a map of keys to values but received a list.'],
    ['prices: { card: 3 }', "received 'card': did you mean cards?"],
    ['prices: { cards: 1, currency: "a\\tb" }', 'to be a label of at most 12 characters, e.g. EUR'],
    ['prices: { cards: 1, currency: "\\u202eEUR" }', 'to be a label of at most 12 characters'],
    ['prices: { cards: 1, currency: moneymoneymoney }', 'to be a label of at most 12 characters'],
    ['prices: { cards: 1, systems: { a: 50% } }', 'Expected a of systems of prices of the configuration to be a map'],
    ['prices: { cards: 1, systems: { a: {} } }', 'to have one of share and perHour but received none.'],
    [
      'prices: { cards: 1, systems: { a: { share: 1%, perHour: 1 } } }',
      'to have one of share and perHour but received share and perHour.',
    ],
    ['prices: { cards: 1, systems: { a: { share: 0% } } }', 'above 0% and up to 100%, e.g. 50% but received'],
    ['prices: { cards: 1, systems: { a: { share: 101% } } }', "but received '101%'."],
    ['prices: { cards: 1, systems: { a: { share: 0.5 } } }', 'but received 0.5.'],
    ['prices: { cards: 1, systems: { __proto__: { share: x } } }', 'Expected share of __proto__ of systems of prices'],
  ])('%s is refused', (text, message) => {
    expect(() => read(text)).toThrow(message);
    // The error names the place in the file.
    expect(() => read(text)).toThrow(/^w\.yaml:3:\d+: /);
  });

  it('are of systems that are measured', () => {
    const prices = read('prices: { cards: 1, systems: { hami: { share: 50% } } }');
    expect(() => checkPriced(prices, ['native', 'hamii'])).toThrow(
      "Expected systems of prices to be systems that are measured but received 'hami': did you mean hamii?",
    );
    expect(() => checkPriced(prices, ['native', 'mps'])).toThrow('there are native, mps.');
    // Documents label a custom system without proofs like this.
    expect(() => checkPriced(prices, ['native', 'hami (unverified)'])).not.toThrow();
  });

  it('leave no system without one', () => {
    const prices = read('prices: { systems: { hami: { perHour: 2 } } }');
    expect(() => checkPriced(prices, ['hami'])).not.toThrow();
    expect(() => checkPriced(prices, ['native', 'hami'])).toThrow(/but native has neither: write cards: 3\.50, or/);
    expect(tenantPrices(prices, card, [system('hami')])).toMatchObject({ perGpuHour: null });
  });

  it('name the card that is measured', () =>
    expect(() => priced('prices: { cards: { NVIDIA H100: 2, "NVIDIA h200": 3 } }', system('native'))).toThrow(
      "Expected cards of prices to have 'NVIDIA H200', the card that is measured, but received 'NVIDIA H100', 'NVIDIA h200': add it",
    ));
});

it('costs may have thresholds before anything is measured', () => {
  const config = parseExecConfig(
    "workloads: [{ name: w, argv: [p], metrics: { r: { regex: '(x)', unit: tokens/s, direction: higher } } }]\nprices: { cards: 1 }",
    'w.yaml',
    { caller: {}, folder: '/' },
  );
  const settings = { caller: {}, logsOf: null, keepGoing: false };
  const measured = config.workloads.flatMap((workload) => metricsOfWorkload(workload, settings));
  const costs = new Costing(config.prices, []).definitions(measured);
  const { metrics } = parseThresholds('metrics: { w/cost-per-million-tokens: { limit: 3 } }', 't.yaml', costs);
  expect(metrics.get('w/cost-per-million-tokens')?.limit).toBe(3);
  expect(new Costing(null, []).definitions(measured)).toEqual([]);
});

describe('prices of a saved document', () => {
  const stored = served();
  const at = (prices: string) => repriced(stored, read(prices));
  const costOf = (document: ComparisonDocument, system: number) =>
    document.systems[system]?.[0]?.metrics.find(({ id }) => id === 'decode@batch=1/cost-per-million-tokens');

  it('replace those that it had, with the shares that it says', () => {
    const document = at('prices: { currency: EUR, cards: { NVIDIA Test: 7.2 }, systems: { mps-50: { perHour: 1 } } }');
    expect(document.prices).toEqual({
      currency: 'EUR',
      perGpuHour: 7.2,
      systems: [
        { system: 'native', sharePercent: 100, from: 'whole card', perHour: 7.2 },
        { system: 'hami-50', sharePercent: 50, from: 'memory limit', perHour: 3.6 },
        { system: 'mps-50', sharePercent: null, from: 'prices', perHour: 1 },
      ],
    });
    expect(costOf(document, 1)?.unit).toBe('EUR / million tokens');
    expect(costOf(document, 1)?.value).toBeCloseTo(2 * (costOf(stored, 1)?.value ?? 0), 12);
    // Only costs change; everything else stays.
    const back = read('prices: { cards: 3.6, systems: { mps-50: { share: 50% } } }');
    expect(repriced(document, back).systems[0]).toEqual(stored.systems[0]);
    // A given share is kept, like one from a limit.
    expect(repriced(repriced(document, back), read('prices: { cards: 2 }')).prices?.systems[2]).toMatchObject({
      sharePercent: 50,
      perHour: 1,
    });
  });

  it.each([
    ['prices: { cards: { H200: 1 } }', "to have 'NVIDIA Test', the card that is measured"],
    ['prices: { cards: 1, systems: { x: { share: 1% } } }', 'there are native, hami-50, mps-50.'],
  ])('are refused where they do not fit: %s', (text, message) => expect(() => at(text)).toThrow(message));

  it('need a share of what no earlier price says', () => {
    const unpriced = served(null);
    expect(() => repriced(unpriced, read('prices: { cards: 1 }'))).toThrow(
      'The document does not record which share of the card hami-50 is limited to: give it under systems of prices',
    );
    const given = 'prices: { cards: 1, systems: { hami-50: { share: 50% }, mps-50: { share: 20% } } }';
    expect(repriced(unpriced, read(given)).prices?.systems.map(({ perHour }) => perHour)).toEqual([1, 0.5, 0.2]);
    expect(() => repriced(runDocument(), read('prices: { cards: 1 }'))).toThrow('received one of run');
  });

  it('are read from any file that has them', async () => {
    const file = join(temporaryFolder(), 'w.yaml');
    writeFileSync(file, `${workloads}prices: { cards: 2 }\nother: 1\n`);
    expect(await readPrices(file)).toMatchObject({ cards: 2 });
    writeFileSync(file, workloads);
    await expect(readPrices(file)).rejects.toThrow('Expected a map with the key prices but received one without.');
    writeFileSync(file, '[1]');
    await expect(readPrices(file)).rejects.toThrow('Expected a map with the key prices.');
  });
});

describe('the share of the card that a tenant pays for', () => {
  it.each([
    [system('x', 35, null), 25, 'memory limit'],
    [system('x', null, 30), 30, 'compute limit'],
    [system('x', 35, 30), 30, 'compute limit'],
    [system('x', 70, 30), 50, 'memory limit'],
    [system('x', 35, 100), 100, 'compute limit'],
    [system('x'), 100, 'whole card'],
  ])('is the larger of its limits (%#)', (limited, sharePercent, from) =>
    expect(priced('prices: { cards: 1 }', limited)).toMatchObject([
      { sharePercent, from, perHour: sharePercent / 100 },
    ]),
  );

  it('is not asked of a system that cannot be measured', () => {
    const limits = () => {
      throw new Error('it was not prepared');
    };
    const missing = { name: 'hami', unavailable: 'library not available', limits };
    expect(tenantPrices(read('prices: { cards: 1 }'), card, [system('native'), missing]).systems).toHaveLength(1);
  });
});

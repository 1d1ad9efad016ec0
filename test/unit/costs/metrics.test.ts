import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { concluded, NOTHING_PRICED } from '../../../lib/costs/concluded.js';
import { energyMetrics } from '../../../lib/costs/energy-metrics.js';
import { countedBy } from '../../../lib/metrics/core/per.js';
import { comparisonDocumentSchema, type ComparisonDocument, type MetricResult } from '../../../lib/results/document.js';
import type { GpuPrices } from '../../../lib/results/cost-schemas.js';
import { merge } from '../../../lib/saved/merge.js';
import { plausible } from '../../../lib/saved/plausible.js';
import { relabelled } from '../../../lib/saved/relabelled.js';
import { isComparison } from '../../../lib/results/kinds.js';
import { ofProgram, prices, served } from './fixtures.js';
import { comparison } from '../report/fixtures.js';
import { result } from '../run/fixtures.js';

type Change = Partial<MetricResult>;

/** One program under `native` and `hami-50`, with these results in every round. */
const measured = (results: () => MetricResult[], given: GpuPrices | null = prices): ComparisonDocument =>
  concluded(
    {
      ...comparison([
        { name: 'native', metrics: results },
        { name: 'hami-50', metrics: results },
      ]),
      callEffects: [],
    },
    given,
  );
const resultsOf = ({ systems }: ComparisonDocument, id: string): MetricResult[] =>
  systems.flat().flatMap(({ metrics }) => metrics.filter((result) => result.id === id));
const idsOf = ({ systems }: ComparisonDocument): string[] => [
  ...new Set(systems.flat().flatMap(({ metrics }) => metrics.map(({ id }) => id))),
];

describe('what a metric counts by', () => {
  it.each([
    ['tokens/s', 'higher', undefined, { as: 'rate', per: 'token' }],
    ['tok/s', 'higher', undefined, { as: 'rate', per: 'token' }],
    ['req/s', 'higher', undefined, { as: 'rate', per: 'request' }],
    ['steps/s', 'higher', undefined, { as: 'rate', per: 'step' }],
    ['images/s', 'higher', 'request', { as: 'rate', per: 'request' }],
    ['ms', 'lower', 'step', { as: 'time', seconds: 1e-3, per: 'step' }],
    ['tokens', 'none', undefined, { as: 'number', per: 'token' }],
    ['count', 'none', 'request', { as: 'number', per: 'request' }],
    // It is unknown what took the time, or more is not better, or the definition says that nothing is counted.
    ['ms', 'lower', undefined, null],
    ['images/s', 'higher', undefined, null],
    ['tokens/s', 'none', undefined, null],
    ['tokens/s', 'higher', 'none', null],
    ['ms', 'higher', 'step', null],
    ['GB', 'higher', 'step', null],
  ] as const)('is read from %s, %s, per %s', (unit, direction, per, counted) =>
    expect(countedBy({ unit, direction, ...(per && { per }) })).toEqual(counted),
  );
});

describe('the costs of a program', () => {
  it('are the price of the time that a million tokens take', () => {
    const document = measured(() => [ofProgram('w/rate', 'tokens/s', 'higher', 1_000)]);
    // 1000 s at 3.6 per hour, and at half of that.
    expect(resultsOf(document, 'w/cost-per-million-tokens').map(({ value }) => value)).toEqual([
      ...[1, 1, 1].map((value) => expect.closeTo(value, 12)),
      ...[0.5, 0.5, 0.5].map((value) => expect.closeTo(value, 12)),
    ]);
    const [cost] = resultsOf(document, 'w/cost-per-million-tokens');
    expect(cost).toMatchObject({
      unit: 'USD / million tokens',
      direction: 'lower',
      ciScope: 'between-processes',
      details: { of: 'w/rate', price: { perHour: 3.6, sharePercent: 100 } },
    });
    expect(cost?.ci95?.[0]).toBeCloseTo(1 / 1.01, 12);
    expect(cost?.ci95?.[1]).toBeCloseTo(1 / 0.99, 12);
    expect(cost?.blocks?.[0]).toBeCloseTo(1 / 0.99, 12);
    expect(document.effects.filter(({ metric }) => metric === 'w/cost-per-million-tokens')).toMatchObject([
      { system: 'hami-50', verdict: 'faster', ratio: expect.closeTo(0.5, 9) },
    ]);
    expect(v.safeParse(comparisonDocumentSchema, document).success).toBe(true);
  });

  it('are those of requests and steps, by rates and by times', () => {
    const document = measured(() => [
      ofProgram('w/requests', 'requests/s', 'higher', 10),
      { ...ofProgram('w/step', 'ms', 'lower', 500), details: { delta: { absolute: 3 }, per: 'step' } },
    ]);
    expect(resultsOf(document, 'w/cost-per-request')[0]).toMatchObject({ value: 1e-4, unit: 'USD / request' });
    expect(resultsOf(document, 'w/cost-per-step')[0]).toMatchObject({
      value: expect.closeTo(5e-4, 15),
      // A difference of 3 ms does not apply to money.
      details: { delta: { relative: 0.02 } },
    });
  });

  it('are told apart where a program has several rates of one kind', () =>
    expect(
      idsOf(
        measured(() => [
          ofProgram('w/decode', 'tokens/s', 'higher', 10),
          ofProgram('w/prefill', 'tokens/s', 'higher', 20),
          ofProgram('v/decode', 'tokens/s', 'higher', 20),
        ]),
      ).filter((id) => id.includes('cost')),
    ).toEqual(['v/cost-per-million-tokens', 'w/cost-per-million-tokens.decode', 'w/cost-per-million-tokens.prefill']));

  it.each<[string, Change, Change]>([
    ['failed', { status: 'failed', reason: 'exit code 1' }, { status: 'failed', reason: 'exit code 1' }],
    [
      'invalid',
      { status: 'invalid', reason: 'layer not active: x' },
      { status: 'invalid', reason: 'layer not active: x' },
    ],
    ['unsupported', { status: 'unsupported', reason: 'no server' }, { status: 'unsupported', reason: 'no server' }],
    ['zero', { value: 0 }, { status: 'invalid', reason: 'w/rate is 0 tokens/s, which has no price' }],
    ['negative', { value: -1 }, { status: 'invalid', reason: 'w/rate is -1 tokens/s, which has no price' }],
    ['too small', { value: 1e-320 }, { status: 'invalid' }],
  ])('are no number where the rate is %s', (_, change, cost) => {
    const rate = { name: 'rate', category: 'workload', unit: 'tokens/s', direction: 'higher' as const, blocks: [] };
    const document = measured(() => [result('w/rate', { ...rate, ...change })]);
    for (const each of resultsOf(document, 'w/cost-per-million-tokens'))
      expect(each).toMatchObject({ ...cost, value: null, ci95: null });
    expect(v.safeParse(comparisonDocumentSchema, document).success).toBe(true);
  });

  it('have no interval where an end of it has no price', () => {
    const document = measured(() => [
      { ...ofProgram('w/rate', 'tokens/s', 'higher', 1), ci95: [-1, 2], blocks: [0, 1] },
    ]);
    const [cost] = resultsOf(document, 'w/cost-per-million-tokens');
    expect(cost).toMatchObject({ status: 'ok', ci95: null });
    expect(cost).not.toHaveProperty('blocks');
  });

  it('double with the price, and multiply with the rate to it', () =>
    fc.assert(
      fc.property(
        fc.double({ min: 1e-6, max: 1e9, noNaN: true }),
        fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
        (rate, perHour) => {
          const at = (factor: number) => ({
            ...prices,
            systems: prices.systems.map((each) => ({ ...each, perHour: factor * perHour })),
          });
          const costAt = (factor: number) =>
            resultsOf(
              measured(() => [ofProgram('w/rate', 'tokens/s', 'higher', rate)], at(factor)),
              'w/cost-per-million-tokens',
            )[0] as MetricResult;
          const { value, ci95 } = costAt(1);
          expect(((value as number) * rate * 3_600) / 1e6 / perHour).toBeCloseTo(1, 9);
          expect((costAt(2).value as number) / (value as number)).toBeCloseTo(2, 9);
          const [low, high] = ci95 as [number, number];
          expect(low <= (value as number) && (value as number) <= high).toBe(true);
        },
      ),
      { numRuns: 25 },
    ));

  it('are computed again at other prices, and not of costs', () => {
    const first = served();
    const again = concluded(first, { ...prices, currency: 'EUR' });
    expect(idsOf(again)).toEqual(idsOf(first));
    expect(concluded(again, prices)).toEqual(first);
  });

  it('leave a document without prices as it is', () => {
    const document = comparison([{ name: 'native', metrics: () => [ofProgram('w/rate', 'tokens/s', 'higher', 1)] }]);
    expect(concluded(document, null)).toEqual(document);
  });

  it('are said to be none where nothing is a rate', () => {
    const { prices: known, warnings } = measured(() => [ofProgram('w/wall', 's', 'lower', 1)]);
    expect(warnings).toEqual([NOTHING_PRICED]);
    expect(known).toEqual(prices);
  });

  it('are of systems without proofs too, by the name that their prices have', () => {
    const document = comparison([
      { name: 'native', metrics: () => [] },
      { name: 'hami-50 (unverified)', metrics: () => [ofProgram('w/rate', 'tokens/s', 'higher', 1_000)] },
    ]);
    const priced = concluded({ ...document, callEffects: [] }, prices);
    expect(resultsOf(priced, 'w/cost-per-million-tokens')[0]?.value).toBeCloseTo(0.5, 12);
    expect(priced.prices?.systems[1]?.system).toBe('hami-50 (unverified)');
  });
});

describe('energy by what a run counted', () => {
  it('is of every number, by key where there are several', () => {
    const counter = (key: string, unit: string) => ({ key, unit, direction: 'none' as const });
    expect(energyMetrics([counter('a', 'tokens'), counter('b', 'steps'), counter('c', 'nats')])).toEqual([
      { key: 'energy-per-token', name: 'energy per token', counter: 'a' },
      { key: 'energy-per-step', name: 'energy per step', counter: 'b' },
    ]);
    expect(energyMetrics([counter('a', 'tokens'), counter('b', 'tokens')]).map(({ key }) => key)).toEqual([
      'energy-per-token.a',
      'energy-per-token.b',
    ]);
  });
});

describe('a document with costs', () => {
  const later = (document: ComparisonDocument): ComparisonDocument => ({
    ...document,
    systems: document.systems.map((rounds) =>
      rounds.map((round) => ({ ...round, startedAt: '2030-01-01T00:00:00.000Z' })),
    ),
  });
  const merged = (...documents: ComparisonDocument[]) =>
    merge(documents.map((document, i) => ({ file: `${i}`, document }))) as ComparisonDocument;

  it('is merged with one of the same prices, and ranked again', () => {
    const both = merged(served(), later(served()));
    expect(both.prices).toEqual(prices);
    expect(both.rankings?.map(({ metric }) => metric)).toEqual(served().rankings?.map(({ metric }) => metric));
    expect(both.rankings?.[0]?.systems[0]?.rounds).toBe(6);
  });

  it('is not merged with one of others', () => {
    const other = (change: Partial<GpuPrices>) => later(served({ ...prices, ...change }));
    const [native, ...others] = prices.systems;
    const dearer = [{ ...native, perHour: 4 } as GpuPrices['systems'][number], ...others];
    expect(() => merged(served(), other({ systems: dearer }))).toThrow('3.6 USD and 4 USD for an hour of native');
    expect(() => merged(served(), other({ currency: 'EUR' }))).toThrow(
      'in USD / million tokens and in EUR / million tokens',
    );
    expect(() => merged(served(), later(served(null)))).toThrow('prices in some and none in others');
  });

  it('has no cost of a rate that is impossible', () => {
    const document = served();
    const [round] = document.systems[1] ?? [];
    const rate = round?.metrics.find(({ id }) => id === 'decode@batch=1/tokens-per-second') as MetricResult;
    rate.value = 1e150;
    const found = plausible(document);
    if (!isComparison(found.document)) throw new Error('unreachable');
    expect(resultsOf(found.document, 'decode@batch=1/cost-per-million-tokens')[3]).toMatchObject({
      status: 'invalid',
      value: null,
    });
    expect(found.document.rankings?.[0]?.systems).toContainEqual(
      expect.objectContaining({ system: 'hami-50', rank: null, reason: expect.stringMatching(/^invalid: impossible/) }),
    );
  });

  it('calls its systems by their new names everywhere', () => {
    const renamed = relabelled(served(), ['native', 'hami-50 (unverified)', 'mps-50']);
    expect(JSON.stringify(renamed).includes('"hami-50"')).toBe(false);
  });
});

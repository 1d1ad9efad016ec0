import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concluded, ranked } from '../../../lib/costs/concluded.js';
import { type Front, frontsOf, readableFront } from '../../../lib/costs/fronts.js';
import { CONFIDENCE, isTail, REFERENCE } from '../../../lib/costs/ranking.js';
import type { ComparisonDocument, ResultWithoutNumber } from '../../../lib/results/document.js';
import type { RankedSystem } from '../../../lib/results/cost-schemas.js';
import { merge } from '../../../lib/saved/merge.js';
import { ofProgram, prices, served, serving } from './fixtures.js';
import { without } from '../run/fixtures.js';
import { judged } from '../../../lib/run/effects/judged.js';
import { comparison } from '../report/fixtures.js';
import { gaussian } from '../stats/fixtures.js';

type Reason = Pick<ResultWithoutNumber, 'status' | 'reason'>;

/** A document with one metric of program `w`: for each system, one value per round. */
function document(values: Record<string, (number | Reason)[]>, id = 'w/rate'): ComparisonDocument {
  const of = (value: number | Reason) => {
    const one = ofProgram(id, id.endsWith('p99') ? 'ms' : 'tokens/s', id.endsWith('p99') ? 'lower' : 'higher', 1);
    return typeof value === 'number' ? { ...one, value } : without(one, value.status, value.reason);
  };
  const rounds = Math.max(...Object.values(values).map(({ length }) => length));
  const systems = Object.entries(values).map(([name, own]) => ({
    name,
    metrics: (round: number) => (own[round] === undefined ? [] : [of(own[round])]),
  }));
  return { ...comparison(systems, rounds), callEffects: [] };
}
const rankedIn = (given: ComparisonDocument, metric = 'w/rate'): RankedSystem[] =>
  ranked(judged(given)).rankings?.find((ranking) => ranking.metric === metric)?.systems ?? [];
const ranksOf = (given: ComparisonDocument, metric?: string) =>
  Object.fromEntries(rankedIn(given, metric).map(({ system, rank }) => [system, rank]));
const around = (value: number) => [value * 0.99, value, value * 1.01];

describe('the rank of a system', () => {
  it('is 1 + the number of systems that are shown to be better', () => {
    const values = { native: around(100), a: around(50), b: around(49.9), c: around(20), d: around(10) };
    expect(ranksOf(document(values))).toEqual({ a: 1, b: 1, c: 3, d: 4, native: null });
    const latencies = { native: around(1), a: around(50), b: around(49.9), c: around(20), d: around(10) };
    expect(ranksOf(document(latencies, 'w/p99'), 'w/p99')).toEqual({ d: 1, c: 2, a: 3, b: 3, native: null });
  });

  it('is shared without a verdict on each other, which is not transitive', () => {
    // Nothing is shown of b beside a and c; a is shown to be better than c.
    const spread = (value: number, by: number) => [-1, -0.5, 0, 0.5, 1].map((step) => value + by * step);
    const values = { native: spread(1, 0), a: spread(10, 0.01), b: spread(9.75, 0.4), c: spread(9.5, 0.01) };
    expect(ranksOf(document(values))).toEqual({ a: 1, b: 1, c: 2, native: null });
  });

  it('is not given to the reference, nor to what has no number, with the reason', () => {
    const failed = { status: 'failed', reason: 'exit code 1' } as const;
    const invalid = { status: 'invalid', reason: 'layer not active: x' } as const;
    const found = rankedIn(
      document({
        native: [1, 1],
        a: [2, 2.1],
        b: [2, 2.1],
        c: [2, failed],
        d: [2, 2, invalid],
        e: [2],
        f: [failed, 2, 2],
      }),
    );
    expect(Object.fromEntries(found.map(({ system, rank, reason }) => [system, rank ?? reason]))).toEqual({
      a: 1,
      b: 1,
      c: 'failed: exit code 1',
      d: 'invalid: layer not active: x',
      e: 'needs 2 rounds and has 1',
      f: 1,
      native: REFERENCE,
    });
    for (const { value, interval } of found.filter(({ reason }) => reason !== undefined && reason !== REFERENCE))
      expect([value, interval]).toEqual([null, null]);
  });

  it('needs two systems beside the reference', () => {
    expect(ranked(document({ native: [1, 1], a: [1, 1] }))).not.toHaveProperty('rankings');
    const apart = document({ native: [1, 1], a: [1, 1], b: [1, 1] });
    expect(ranked({ ...apart, plan: { ...apart.plan, order: [] } })).not.toHaveProperty('rankings');
  });

  it('is of rates, p99 latencies and costs, and of nothing else', () => {
    const rows = () => [
      ofProgram('w/rate', 'tokens/s', 'higher', 1),
      ofProgram('w/ttft-p99', 'ms', 'lower', 1),
      ofProgram('w/p999', 'ms', 'lower', 1),
      ofProgram('w/score-p99', 'points', 'lower', 1),
      ofProgram('w/wall', 's', 'lower', 1),
      ofProgram('w/energy-per-token', 'J', 'lower', 1),
      ofProgram('w/tokens', 'tokens', 'none', 1),
    ];
    const three = comparison(['native', 'a', 'b'].map((name) => ({ name, metrics: rows })));
    expect(concluded({ ...three, callEffects: [] }, prices).rankings?.map(({ metric }) => metric)).toEqual([
      'w/cost-per-million-tokens',
      'w/energy-per-token',
      'w/rate',
      'w/ttft-p99',
    ]);
    expect(isTail({ id: 'w/p99.itl', unit: 's', direction: 'lower' })).toBe(true);
  });

  it('does not depend on the order or the unit, and is the same of costs at equal prices', () => {
    const value = fc.double({ min: 0.5, max: 2, noNaN: true });
    const arm = fc.array(value, { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(
        fc.array(arm, { minLength: 2, maxLength: 5 }),
        fc.double({ min: 1e-3, max: 1e3, noNaN: true }),
        (arms, scale) => {
          const entries = arms.map((own, i): [string, number[]] => [`s${i}`, own]);
          const given = document({ native: [1, 1, 1], ...Object.fromEntries(entries) });
          const ranks = ranksOf(given);
          const values = Object.values(ranks).filter((rank) => rank !== null);
          // There is always a best system, and a rank counts the systems that are better.
          expect(Math.min(...values)).toBe(1);
          expect(Math.max(...values)).toBeLessThanOrEqual(arms.length);
          const turned = document({ native: [1, 1, 1], ...Object.fromEntries([...entries].reverse()) });
          expect(ranksOf(turned)).toEqual(ranks);
          const scaled = entries.map(([name, own]) => [name, own.map((each) => scale * each)]);
          expect(ranksOf(document({ native: [1, 1, 1], ...Object.fromEntries(scaled) }))).toEqual(ranks);
          const hour = { sharePercent: 100, from: 'whole card', perHour: 2 } as const;
          const equal = ['native', ...entries.map(([name]) => name)].map((system) => ({ system, ...hour }));
          const priced = concluded(judged(given), { currency: 'USD', perGpuHour: 2, systems: equal });
          expect(ranksOf(priced, 'w/cost-per-million-tokens')).toEqual(ranks);
        },
      ),
      { numRuns: 60 },
    );
  });
});

it('the intervals of a ranking hold as often as they say', () => {
  const random = gaussian(5);
  const truths = { a: 10, b: 12, c: 14, d: 20 };
  const trials = 600;
  let held = 0;
  for (let trial = 0; trial < trials; trial++) {
    const arms = Object.entries(truths).map(([name, truth]) => [
      name,
      Array.from({ length: 5 }, () => truth * Math.exp(0.05 * random())),
    ]);
    const found = rankedIn(document({ native: [1, 1, 1, 1, 1], ...Object.fromEntries(arms) }));
    held += found.filter(({ system, interval }) => {
      const truth = truths[system as keyof typeof truths];
      return truth !== undefined && interval !== null && interval[0] <= truth && truth <= interval[1];
    }).length;
  }
  const count = trials * Object.keys(truths).length;
  // The tolerance is three standard errors of the share.
  expect(Math.abs(held / count - CONFIDENCE)).toBeLessThan(3 * Math.sqrt((CONFIDENCE * (1 - CONFIDENCE)) / count));
});

describe('throughput against p99 latency', () => {
  const standings = ({ points }: Front) =>
    Object.fromEntries(points.map(({ system, workload, standing }) => [`${system} ${workload}`, standing]));
  const compared = (systems: Record<string, Record<string, [number, number]>>) =>
    frontsOf({
      ...comparison(Object.entries(systems).map(([name, rates]) => ({ name, metrics: serving(rates) }))),
      callEffects: [],
    });

  it('has a point for every system and combination, and a front of those that none is better than', () => {
    const [front, ...others] = frontsOf(served());
    expect(others).toEqual([]);
    expect(front).toMatchObject({
      program: 'decode',
      latency: { key: 'itl-p99', unit: 'ms' },
      throughput: { key: 'tokens-per-second', unit: 'tokens/s' },
      missing: [],
    });
    expect(standings(front as Front)).toEqual({
      'native decode@batch=1': 'reference',
      'native decode@batch=8': 'reference',
      'hami-50 decode@batch=1': 'behind',
      'hami-50 decode@batch=8': 'front',
      'mps-50 decode@batch=1': 'front',
      'mps-50 decode@batch=8': 'front',
    });
  });

  it('is of tokens where a program counts requests too', () => {
    const both = (round: number) => [
      ...serving({ w: [10, 1] })(round),
      ofProgram('w/requests', 'requests/s', 'higher', 1),
      ofProgram('w/ttft-p99', 'ms', 'lower', 1),
    ];
    const given = comparison(['native', 'a'].map((name) => ({ name, metrics: both })));
    expect(frontsOf(given).map(({ throughput, latency }) => [throughput.key, latency.key])).toEqual([
      ['tokens-per-second', 'itl-p99'],
      ['tokens-per-second', 'ttft-p99'],
    ]);
  });

  it('leaves open what overlaps', () => {
    const [front] = compared({ native: { w: [100, 1] }, a: { w: [50, 2] }, b: { w: [49.99, 2.5] }, c: { w: [40, 3] } });
    expect(standings(front as Front)).toEqual({
      'native w': 'reference',
      'a w': 'front',
      'b w': 'open',
      'c w': 'behind',
    });
    expect(front?.points[3]?.betterThanIt).toEqual([1, 2]);
  });

  it('is of the only system too, and then has no reference', () => {
    const [front] = compared({ native: { 'w@b=1': [10, 1], 'w@b=2': [20, 2], 'w@b=3': [15, 3] } });
    expect(standings(front as Front)).toEqual({
      'native w@b=1': 'front',
      'native w@b=2': 'front',
      'native w@b=3': 'behind',
    });
  });

  it('says why a system has no point', () => {
    const given = comparison([
      { name: 'native', metrics: serving({ w: [10, 1] }) },
      { name: 'a', metrics: serving({ w: [5, 2] }) },
      {
        name: 'b',
        metrics: (round) =>
          serving({ w: [5, 2] })(round).map((result) =>
            result.unit === 'ms' ? without(result, 'failed', 'exit code 1') : result,
          ),
      },
    ]);
    expect(frontsOf(given)[0]).toMatchObject({
      points: [{ system: 'native' }, { system: 'a' }],
      missing: [{ system: 'b', workload: 'w', reason: 'w/itl-p99 is failed: exit code 1' }],
    });
  });

  it('is nothing without a p99, a rate or a second point', () => {
    expect(compared({ native: { w: [1, 1] } })).toEqual([]);
    expect(frontsOf(document({ native: [1, 1], a: [1, 1] }))).toEqual([]);
  });

  it('is in one unit of latency', () => {
    const [front] = compared({ native: { 'w@b=1': [10, 900], 'w@b=2': [20, 2_000] } });
    const { latency, points } = readableFront(front as Front);
    expect(latency.unit).toBe('s');
    expect(points.map(({ latency: { value } }) => value)).toEqual([
      expect.closeTo(0.9018, 3),
      expect.closeTo(2.004, 3),
    ]);
  });

  it('compares nothing between sessions', () => {
    const session = (name: string, rates: [number, number], at: string) => {
      const given = comparison([
        { name: 'native', metrics: serving({ w: [100, 1] }) },
        { name, metrics: serving({ w: rates }) },
      ]);
      const systems = given.systems.map((rounds) => rounds.map((round) => ({ ...round, startedAt: at })));
      return { file: at, document: { ...given, systems, callEffects: [] } };
    };
    const merged = merge([
      session('a', [50, 2], '2026-02-01T00:00:00.000Z'),
      session('b', [40, 3], '2026-03-01T00:00:00.000Z'),
    ]) as ComparisonDocument;
    expect(standings(frontsOf(merged)[0] as Front)).toEqual({
      'native w': 'reference',
      'a w': 'front',
      'b w': 'front',
    });
    expect(merged.rankings?.[0]?.systems).toMatchObject([
      { system: 'native', reason: REFERENCE },
      { system: 'a', rank: null, reason: 'not measured in the same rounds as the others' },
      { system: 'b', rank: null, reason: 'not measured in the same rounds as the others' },
    ]);
  });
});

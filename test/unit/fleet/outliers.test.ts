/** Rules that seek outliers, on seeded fleets whose cards differ by known noise. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type CardRow, type GroupFacts, QUANTILES } from '../../../lib/fleet/report/card-row.js';
import { columnsOf } from '../../../lib/fleet/report/columns.js';
import { groupsOf } from '../../../lib/fleet/report/groups.js';
import { parseLimit } from '../../../lib/fleet/report/limits.js';
import { outliersIn } from '../../../lib/fleet/report/outliers.js';
import { FEWEST_CARDS, pOfScore } from '../../../lib/fleet/report/robust-score.js';
import type { Series } from '../../../lib/fleet/report/series.js';
import { outlierWords } from '../../../lib/fleet/report/words.js';
import { quantile } from '../../../lib/stats/quantile.js';
import { gaussianFrom, seededRandom } from '../../../lib/stats/random.js';

const facts: GroupFacts = {
  gpu: 'NVIDIA Test',
  driver: '580',
  vbios: '96',
  powerLimitW: 700,
  maxSmClockMhz: 1980,
  mig: 'disabled',
  memoryBytes: 2 ** 36,
  multiprocessors: 132,
  layer: null,
  tool: '0.1.0',
};

const seriesOf = (metric: string, change: Partial<Series> = {}): Series => ({
  system: 'native',
  baseline: null,
  metric,
  name: metric,
  unit: 'us',
  direction: 'lower',
  delta: { relative: 0.02 },
  isExact: false,
  ...change,
});

interface Card {
  values: number[];
  /** Values within the card, for each series; none if it is empty. */
  samples?: number[][];
  facts?: Partial<GroupFacts>;
}

const rowOf = ({ values, samples = [], facts: own = {} }: Card, index: number): CardRow => ({
  index,
  node: `n${index}`,
  uuid: `GPU-${index}`,
  simulated: false,
  facts: { ...facts, ...own },
  series: Int32Array.from(values.keys()),
  values: Float64Array.from(values),
  quantiles: Float64Array.from(
    values.flatMap((_, i) => {
      const sorted = Float64Array.from(samples[i] ?? []).sort();
      return QUANTILES.map((p) => (sorted.length === 0 ? Number.NaN : quantile(sorted, p)));
    }),
  ),
  counts: Int32Array.from(values, (_, i) => samples[i]?.length ?? 0),
  proofs: { passed: 0, failed: [], proven: 1, processes: 1 },
  violations: [],
  failures: [],
  health: [],
  impossible: [],
  gateFailed: false,
});

function sought(cards: readonly Card[], series: readonly Series[], limits: string[] = [], least = 0.05) {
  const columns = groupsOf(cards.map(rowOf)).flatMap(columnsOf);
  const found = outliersIn(columns, series, { limits: limits.map(parseLimit), least });
  return {
    ...found,
    named: found.outliers.map(
      ({ rule, row, column, side }) => `${rule} ${series[column.series]?.metric} ${row.node} ${side}`,
    ),
    reasons: found.untested.map(({ rule, reason }) => `${rule}: ${reason}`),
  };
}

interface Noise {
  cards: number;
  metrics: number;
  /** Standard deviation between cards, of logarithms. */
  between: number;
  /** Part of it that all metrics of a card share. */
  shared?: number;
  /** Standard deviation within a card. */
  within?: number;
}

function equalCards({ cards, metrics, between, shared = 0, within = 0.01 }: Noise, seed: number): Card[] {
  const gaussian = gaussianFrom(seededRandom(seed));
  return Array.from({ length: cards }, () => {
    const own = gaussian();
    const levels = Array.from(
      { length: metrics },
      () => 10 * Math.exp(between * (Math.sqrt(shared) * own + Math.sqrt(1 - shared) * gaussian())),
    );
    const samples = levels.map((level) => Array.from({ length: 20 }, () => level * Math.exp(within * gaussian())));
    return { values: levels, samples };
  });
}

const metricsOf = (count: number) => Array.from({ length: count }, (_, i) => seriesOf(`OH-${i}`));

/** Fleets with any outlier; with `least` 0, whatever its distance. */
function alarms(noise: Noise, fleets: number, seed: number): number {
  const series = metricsOf(noise.metrics);
  return Array.from(
    { length: fleets },
    (_, i) => sought(equalCards(noise, seed + i), series, [], 0).outliers.length > 0,
  ).filter(Boolean).length;
}

/** More than this happens in one of ten thousand such series of fleets, if the rate is 5 %. */
const mostAlarms = (fleets: number): number => Math.ceil(0.05 * fleets + 3.72 * Math.sqrt(fleets * 0.05 * 0.95));

describe('equal cards with noise', () => {
  const FLEETS = 400;
  it.each<[string, Noise]>([
    ['5 cards and 13 metrics', { cards: 5, metrics: 13, between: 0.03 }],
    ['6 cards and 1 metric', { cards: 6, metrics: 1, between: 0.03 }],
    ['9 cards and 13 metrics', { cards: 9, metrics: 13, between: 0.03 }],
    ['40 cards and 5 metrics', { cards: 40, metrics: 5, between: 0.03 }],
    ['12 cards and metrics that depend on each other', { cards: 12, metrics: 10, between: 0.05, shared: 0.8 }],
    ['20 cards that vary little but within', { cards: 20, metrics: 5, between: 0.002, within: 0.05 }],
  ])('give no outlier in more than 5 percent of fleets: %s', (_, noise) => {
    expect(alarms(noise, FLEETS, 1_000)).toBeLessThanOrEqual(mostAlarms(FLEETS));
  });

  it('would be named if their noise were not equal', () => {
    const noise = { cards: 20, metrics: 2, between: 0.03 };
    const found = Array.from({ length: FLEETS }, (_, i) => {
      const [first, ...others] = equalCards(noise, i);
      const farther = { values: (first?.values ?? []).map((value) => 1.25 * value) };
      return sought([farther, ...others], metricsOf(2), [], 0).outliers.length > 0;
    });
    expect(found.filter(Boolean).length).toBeGreaterThan(mostAlarms(FLEETS));
  });
});

describe('a slow card', () => {
  const slowed = (cards: Card[], place: number, factor: number): Card[] =>
    cards.map((card, i) =>
      i === place
        ? {
            values: card.values.map((value) => factor * value),
            samples: (card.samples ?? []).map((sample) => sample.map((value) => factor * value)),
          }
        : card,
    );

  it.each([
    [5, 0.003, 1.3],
    [20, 0.01, 1.3],
    [200, 0.03, 1.35],
  ])('of %i is found, and hardly any other', (cards, between, factor) => {
    const all: string[] = [];
    for (let seed = 0; seed < 20; seed++) {
      const fleet = slowed(equalCards({ cards, metrics: 3, between }, seed), 2, factor);
      const { named } = sought(fleet, metricsOf(3));
      expect(named).toContain('mad OH-0 n2 worse');
      all.push(...named);
    }
    // At most 5 % of those that are named are expected to be false.
    expect(all.filter((each) => !each.includes(' n2 ')).length).toBeLessThanOrEqual(mostAlarms(all.length));
  });

  it('is better if more is better', () => {
    const fleet = slowed(equalCards({ cards: 20, metrics: 1, between: 0.01 }, 1), 0, 1.4);
    expect(sought(fleet, [seriesOf('BW', { direction: 'higher' })]).named).toContain('mad BW n0 better');
    expect(sought(fleet, [seriesOf('BW', { direction: 'none' })]).named).toContain('mad BW n0 different');
  });

  it('is no outlier if it is nearer than what matters', () => {
    const fleet = slowed(equalCards({ cards: 20, metrics: 1, between: 0.001 }, 1), 0, 1.04);
    expect(sought(fleet, metricsOf(1)).named).toEqual([]);
    expect(sought(fleet, metricsOf(1), [], 0.03).named).toContain('mad OH-0 n0 worse');
  });

  it('is found among several', () => {
    const cards = slowed(slowed(equalCards({ cards: 30, metrics: 2, between: 0.01 }, 3), 4, 1.5), 9, 1.3);
    const nodes = new Set(sought(cards, metricsOf(2)).outliers.map(({ row }) => row.node));
    expect([...nodes].sort()).toEqual(['n4', 'n9']);
  });

  it('is put in words with the sample that the rule rests on', () => {
    const fleet = slowed(equalCards({ cards: 20, metrics: 1, between: 0.01 }, 1), 0, 1.4);
    const [first] = sought(fleet, metricsOf(1)).outliers;
    expect(outlierWords(first as NonNullable<typeof first>, seriesOf('OH-0'))).toMatch(
      /^1\d\.\d\d us is 4\d(\.\d+)? % above the median of 20 cards \((9|10)\.\d+ us\), \d+(\.\d+)? robust standard deviations away \(MAD\)$/,
    );
  });
});

describe('a card that is slow half of the time', () => {
  it('is found by its distribution and not by its value', () => {
    const cards = equalCards({ cards: 12, metrics: 1, between: 0.004 }, 5);
    const [first] = cards;
    const sample = (first?.samples?.[0] ?? []).map((value, i) => (i % 5 < 2 ? 1.6 : 0.98) * value);
    const fleet = [{ values: first?.values ?? [], samples: [sample] }, ...cards.slice(1)];
    expect(sought(fleet, metricsOf(1)).named).toEqual(['distribution OH-0 n0 worse']);
  });
});

describe('a mixed fleet', () => {
  it('is split before outliers are sought', () => {
    const cards = equalCards({ cards: 24, metrics: 2, between: 0.005 }, 1).map((card, i): Card =>
      i < 6
        ? {
            values: card.values.map((value) => 1.3 * value),
            samples: (card.samples ?? []).map((sample) => sample.map((value) => 1.3 * value)),
            facts: { powerLimitW: 500 },
          }
        : card,
    );
    expect(sought(cards, metricsOf(2)).named).toEqual([]);
    const unsplit = cards.map(({ values, samples = [] }) => ({ values, samples }));
    expect(sought(unsplit, metricsOf(2)).named).toContain('mad OH-0 n0 worse');
    expect(groupsOf(cards.map(rowOf)).map(({ id, rows }) => [id, rows.length])).toEqual([
      ['A', 18],
      ['B', 6],
    ]);
  });

  it.each<[string, Partial<GroupFacts>]>([
    ['driver', { driver: '570' }],
    ['VBIOS', { vbios: '95' }],
    ['layer', { layer: 'abc' }],
    ['memory', { memoryBytes: 1 }],
    ['version of the tool', { tool: '0.2.0' }],
  ])('differs by %s', (_, own) =>
    expect(groupsOf([rowOf({ values: [1] }, 0), rowOf({ values: [1], facts: own }, 1)])).toHaveLength(2),
  );
});

describe('a rule', () => {
  it('is not applied to fewer cards than it needs, and says how many', () => {
    const cards = equalCards({ cards: FEWEST_CARDS - 1, metrics: 1, between: 0.001 }, 1);
    (cards[0] as Card).values = [1_000];
    const { named, tests, reasons } = sought(cards, metricsOf(1));
    expect({ named, tests, reasons }).toEqual({
      named: [],
      tests: 0,
      reasons: ['mad: 4 cards, and the rule needs 5', 'distribution: 4 cards, and the rule needs 5'],
    });
  });

  it('is not applied where most values are equal, exact or without a percentage', () => {
    const same = [1, 1, 1, 1, 1, 9].map((value): Card => ({ values: [value] }));
    expect(sought(same, metricsOf(1))).toMatchObject({
      named: [],
      reasons: ['mad: more than half of the cards have the same value, so nothing says how they vary'],
    });
    expect(sought(same, [seriesOf('IS-005', { isExact: true })]).reasons[0]).toMatch(/counts or answers/);
    const signed = [-1, 2, 3, 1, 4, 9].map((value): Card => ({ values: [value] }));
    expect(sought(signed, metricsOf(1)).reasons[0]).toMatch(/values of 0 or less have no percentage/);
  });

  it('compares differences where values may be 0 or less', () => {
    const cards = [0.1, -0.2, 0.15, 0, -0.1, 0.05, -0.05, 0.12, -0.14, 500].map((value): Card => ({ values: [value] }));
    const series = [seriesOf('OH-005', { unit: 'ns', delta: { absolute: 2 } })];
    const { named, outliers } = sought(cards, series);
    expect(named).toEqual(['mad OH-005 n9 worse']);
    expect(outliers[0]?.deviation).toBeNull();
  });
});

describe('a limit', () => {
  const cards = [10, 10.1, 14, 5].map((value): Card => ({ values: [value] }));

  it('is a value or a distance from the median, to the worse side', () => {
    expect(sought(cards, metricsOf(1), ['OH-*=12']).named).toEqual(['limit OH-0 n2 worse']);
    expect(sought(cards, metricsOf(1), ['OH-0=30%']).named).toEqual(['limit OH-0 n2 worse']);
    expect(sought(cards, metricsOf(1), ['OH-0=50%', 'OH-9=1']).named).toEqual([]);
    expect(sought(cards, [seriesOf('BW', { direction: 'higher' })], ['BW=30%']).named).toEqual(['limit BW n3 worse']);
  });

  it('needs one card as a value, and three from their median', () => {
    expect(sought(cards.slice(2, 3), metricsOf(1), ['OH-0=12']).named).toEqual([
      'limit OH-0 n2 worse'.replace('n2', 'n0'),
    ]);
    expect(sought(cards.slice(1, 3), metricsOf(1), ['OH-0=5%']).reasons[0]).toBe(
      'limit: 2 cards, and a limit from the median needs 3',
    );
  });

  it('is none of a metric of which neither more nor less is better', () =>
    expect(sought(cards, [seriesOf('X', { direction: 'none' })], ['X=1']).reasons[0]).toMatch(/neither more nor less/));

  it.each(['OH-001', 'OH-001=', '=5', 'OH-001=fast', 'OH-001=0%', 'OH-001=-5%', 'OH-001=1e999'])(
    'is refused as %j',
    (text) => expect(() => parseLimit(text)).toThrow(/Expected --limit to be METRIC=VALUE/),
  );
});

describe('docs/fleet.md', () => {
  it('says how far an outlier has to be', () => {
    const page = readFileSync(new URL('../../../docs/fleet.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^ *\| (\d+) +\| ([\d.]+) +\| ([\d.]+) +\|$/gm)].map((row) =>
      row.slice(1).map(Number),
    );
    expect(rows.map(([cards]) => cards)).toEqual([5, 8, 20, 100, 1000]);
    for (const [cards = 0, ...distances] of rows)
      for (const [i, distance] of distances.entries()) {
        // Both rules find it.
        const found = [2, 10][i] as number;
        const p = 2 * pOfScore(distance, cards);
        expect((p * 13 * 2 * cards) / (0.05 * found)).toBeGreaterThan(0.75);
        expect((p * 13 * 2 * cards) / (0.05 * found)).toBeLessThan(1.25);
      }
  });
});

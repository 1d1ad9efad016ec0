/**
 * Cards that differ from those of their group. The card is the unit: each gives one value, or one distribution, and what
 * counts as far is judged by how the cards differ from each other, never by the samples within one of them.
 */
import { established } from '../../stats/rule/false-discoveries.js';
import { type CardRow, FEWEST_VALUES, QUANTILES } from './card-row.js';
import { type Column, valueOf, valuesOf } from './columns.js';
import { type CardLimit, FEWEST_FOR_MEDIAN } from './limits.js';
import { FEWEST_CARDS, pOfScore, robustOf, scoreOf } from './robust-score.js';
import type { Series } from './series.js';

type Rule = 'limit' | 'mad' | 'distribution';
type Side = 'worse' | 'better' | 'different';

export interface Outlier {
  rule: Rule;
  column: Column;
  row: CardRow;
  value: number;
  /** Median of the group; null for a limit that is a value. */
  median: number | null;
  /** Part of the median; null where differences are absolute, or nothing is compared. */
  deviation: number | null;
  side: Side;
  /** Distance in robust standard deviations. */
  score: number | null;
  p: number | null;
  /** How much of the card's distribution is like the group's; 1 is the same. */
  similarity: number | null;
  /** Values of the card that its distribution has. */
  values: number | null;
  limit: CardLimit | null;
}

/** Why a rule was not applied to a metric of a group. */
interface Untested {
  rule: Rule;
  column: Column;
  reason: string;
}

interface Sought {
  outliers: Outlier[];
  untested: Untested[];
  /** Tests of one card each, which share one error rate. */
  tests: number;
}

/** Only a smaller p can be an outlier. */
const RATE = 0.05;

interface Candidate {
  outlier: Outlier;
  p: number;
  /** Whether it is far enough to matter. */
  counts: boolean;
}

/** `least` is the smallest distance that matters, as a part of the median. */
export function outliersIn(
  columns: readonly Column[],
  series: readonly Series[],
  { limits, least }: { limits: readonly CardLimit[]; least: number },
): Sought {
  const untested: Untested[] = [];
  const candidates: Candidate[] = [];
  let tests = 0;
  const beyond: Outlier[] = [];
  for (const column of columns) {
    const of = series[column.series] as Series;
    for (const limit of limits)
      if (of.baseline === null && limit.matches(of.metric)) beyond.push(...beyondLimit(column, of, limit, untested));
    for (const [rule, test] of [
      ['mad', madTests],
      ['distribution', distributionTests],
    ] as const) {
      const found = test(column, of, least);
      if (typeof found === 'string') untested.push({ rule, column, reason: found });
      else {
        tests += found?.tests ?? 0;
        candidates.push(...(found?.candidates ?? []));
      }
    }
  }
  const isOne = established(candidates, RATE, tests);
  const found = candidates.filter(({ counts }, i) => counts && isOne[i]).map(({ outlier }) => outlier);
  return { outliers: [...beyond, ...found], untested, tests };
}

const NO_FIGURES = { deviation: null, score: null, p: null, similarity: null, values: null, limit: null, median: null };

function sideOf(difference: number, { direction }: Series): Side {
  if (direction === 'none' || difference === 0) return 'different';
  return difference > 0 === (direction === 'lower') ? 'worse' : 'better';
}

/** Only cards that are worse than the limit are outliers. */
function beyondLimit(column: Column, of: Series, limit: CardLimit, untested: Untested[]): Outlier[] {
  const { rows } = column;
  const unfit = unfitFor(column, of, limit);
  if (unfit !== null) {
    untested.push({ rule: 'limit', column, reason: unfit });
    return [];
  }
  const { median } = robustOf(valuesOf(column));
  return rows.flatMap((row, i): Outlier[] => {
    const value = valueOf(column, i);
    const difference = value - (limit.isRelative ? median : limit.value);
    const isBeyond = limit.isRelative ? Math.abs(difference) > limit.value * median : difference !== 0;
    if (!isBeyond || sideOf(difference, of) !== 'worse') return [];
    const relative = limit.isRelative ? { median, deviation: difference / median } : {};
    return [{ ...NO_FIGURES, ...relative, rule: 'limit', column, row, value, side: 'worse', limit }];
  });
}

function unfitFor(column: Column, { direction }: Series, { isRelative }: CardLimit): string | null {
  if (direction === 'none') return 'neither more nor less is better, so no value is beyond a limit';
  if (!isRelative) return null;
  if (column.rows.length < FEWEST_FOR_MEDIAN)
    return `${cardsText(column.rows.length)}, and a limit from the median needs ${FEWEST_FOR_MEDIAN}`;
  return valuesOf(column).every((value) => value > 0) ? null : 'values of 0 or less have no percentage';
}

const cardsText = (count: number): string => (count === 1 ? '1 card' : `${count} cards`);

type Tested = { tests: number; candidates: Candidate[] } | string | null;

/** Whether values are compared on logarithms; a text says why they cannot be compared. */
function scaleOf(values: readonly number[], { delta, isExact }: Series, cards: number): 'log' | 'unit' | string {
  if (isExact) return 'its values are counts or answers, which do not vary by chance';
  if (cards < FEWEST_CARDS) return `${cardsText(cards)}, and the rule needs ${FEWEST_CARDS}`;
  if ('absolute' in delta) return 'unit';
  return values.every((value) => value > 0) ? 'log' : 'values of 0 or less have no percentage';
}

/** Whether a distance matters: at least that part of the median, and what counts for the metric in any case. */
const matters = (distance: number, { delta }: Series, least: number): boolean =>
  distance >= ('absolute' in delta ? delta.absolute : Math.max(least, delta.relative));

function madTests(column: Column, of: Series, least: number): Tested {
  const values = valuesOf(column);
  const scale = scaleOf(values, of, values.length);
  if (scale !== 'log' && scale !== 'unit') return scale;
  const scaled = scale === 'log' ? values.map(Math.log) : values;
  const robust = robustOf(scaled);
  if (robust.mad === 0) return 'more than half of the cards have the same value, so nothing says how they vary';
  const median = scale === 'log' ? Math.exp(robust.median) : robust.median;
  const candidates = scaled.flatMap((value, i): Candidate[] => {
    const score = scoreOf(value, robust) as number;
    const p = 2 * pOfScore(Math.abs(score), values.length);
    if (p > RATE) return [];
    const difference = scale === 'log' ? Math.expm1(value - robust.median) : value - robust.median;
    const outlier: Outlier = {
      ...NO_FIGURES,
      rule: 'mad',
      column,
      row: column.rows[i] as CardRow,
      value: values[i] as number,
      median,
      score,
      p,
      deviation: scale === 'log' ? difference : null,
      side: sideOf(difference, of),
    };
    return [{ outlier, p, counts: matters(Math.abs(difference), of, least) }];
  });
  return { tests: values.length, candidates };
}

const quantilesOf = ({ rows, slots }: Column, i: number): Float64Array =>
  (rows[i] as CardRow).quantiles.subarray(
    (slots[i] as number) * QUANTILES.length,
    ((slots[i] as number) + 1) * QUANTILES.length,
  );

const sumOf = (values: ArrayLike<number>): number => Array.from(values).reduce((sum, value) => sum + value, 0);

/** Null for series that have no distributions. */
function distributionTests(column: Column, of: Series, least: number): Tested {
  if (of.baseline !== null || 'absolute' in of.delta || of.isExact) return null;
  const counts = column.rows.map((row, i) => row.counts[column.slots[i] as number] as number);
  const places = [...column.rows.keys()].filter((i) => (counts[i] as number) >= FEWEST_VALUES);
  if (places.length === 0) return null;
  const distributions = places.map((i) => quantilesOf(column, i));
  const scale = scaleOf(
    distributions.flatMap((each) => each[0] as number),
    of,
    places.length,
  );
  if (scale !== 'log') return scale;
  const common = QUANTILES.map((_, k) => robustOf(distributions.map((each) => each[k] as number)).median);
  const size = sumOf(common);
  const shifts = distributions.map((each) => sumOf(each) / size - 1);
  // From 0 for equal distributions to 1, as part of the larger of both.
  const distances = distributions.map((each) => {
    const apart = each.reduce((sum, value, k) => sum + Math.abs(value - (common[k] as number)), 0);
    return apart / Math.max(size, sumOf(each));
  });
  // Roots of distances have tails as light as those of a normal distribution, which the score expects, or lighter.
  const roots = distances.map(Math.sqrt);
  const robust = robustOf(roots);
  if (robust.mad === 0) return 'more than half of the cards have the same distribution, so nothing says how they vary';
  const candidates = roots.flatMap((root, j): Candidate[] => {
    const score = scoreOf(root, robust) as number;
    const p = pOfScore(score, places.length);
    if (p > RATE) return [];
    const i = places[j] as number;
    const [distance, shift] = [distances[j] as number, shifts[j] as number];
    const outlier: Outlier = {
      ...NO_FIGURES,
      rule: 'distribution',
      column,
      row: column.rows[i] as CardRow,
      value: valueOf(column, i),
      score,
      p,
      median: robustOf(places.map((place) => valueOf(column, place))).median,
      deviation: shift,
      side: sideOf(shift, of),
      similarity: 1 - distance,
      values: counts[i] as number,
    };
    return [{ outlier, p, counts: matters(distance, of, least) }];
  });
  return { tests: places.length, candidates };
}

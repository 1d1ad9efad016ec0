/** Comparisons over a fleet: both arms ran on every card, so the differences within the cards are what is compared. */
import { sampleStandardDeviation } from 'simple-statistics';
import { boundOf } from '../../stats/rule/effect.js';
import { againstZero } from '../../stats/rule/effect.js';
import { type Decision, decide } from '../../stats/rule/verdict.js';
import { type Column, valuesOf } from './columns.js';
import type { Series } from './series.js';

/** One card says nothing about others. */
const FEWEST_PAIRS = 2;

export interface Paired {
  column: Column;
  cards: number;
  /** Mean over the cards: a ratio above 1 is worse; else the difference in the metric's unit. */
  centre: number;
  ci95: [number, number] | null;
  p: number | null;
  /** Standard deviation between cards, of logarithms for ratios; null for one card. */
  betweenCards: number | null;
  /** Null with too few cards, and for metrics of which neither more nor less is better. */
  decision: Decision | null;
}

/** A family for each group, system and baseline. */
export function pairedOf(columns: readonly Column[], series: readonly Series[]): Paired[] {
  const families = new Map<string, Column[]>();
  for (const column of columns) {
    const { system, baseline } = series[column.series] as Series;
    if (baseline === null) continue;
    const key = JSON.stringify([column.group.id, system, baseline]);
    families.set(key, [...(families.get(key) ?? []), column]);
  }
  return [...families.values()].flatMap((family) => familyOf(family, series));
}

function familyOf(family: readonly Column[], series: readonly Series[]): Paired[] {
  const found = family.map((column) => {
    const of = series[column.series] as Series;
    const isRatio = of.unit === null;
    const values = isRatio ? valuesOf(column).map(Math.log) : valuesOf(column);
    const { value, ci95, evidence } = againstZero(values);
    const ends: [number, number] | null = ci95 && isRatio ? [Math.exp(ci95[0]), Math.exp(ci95[1])] : ci95;
    return {
      column,
      cards: values.length,
      centre: isRatio ? Math.exp(value) : value,
      ci95: ends,
      p: evidence.p,
      betweenCards: values.length < FEWEST_PAIRS ? null : sampleStandardDeviation(values),
      // Differences are not oriented: more of what should be high is better.
      evidence: !isRatio && of.direction === 'higher' ? mirrored(evidence) : evidence,
      delta: boundOf(of.delta),
      isJudged: values.length >= FEWEST_PAIRS && of.direction !== 'none' && !of.isExact,
    };
  });
  const judged = found.filter(({ isJudged }) => isJudged);
  const decisions = decide(judged);
  return found.map(({ evidence: _, delta: _bound, isJudged: _is, ...rest }, i) => ({
    ...rest,
    decision: decisions[judged.indexOf(found[i] as (typeof found)[number])] ?? null,
  }));
}

type Evidence = ReturnType<typeof againstZero>['evidence'];

const flipped = (interval: Evidence['ci95']): Evidence['ci95'] => interval && [-interval[1], -interval[0]];

const mirrored = ({ centre, ci90, ci95, ...rest }: Evidence): Evidence => ({
  ...rest,
  centre: -centre,
  ci90: flipped(ci90),
  ci95: flipped(ci95),
});

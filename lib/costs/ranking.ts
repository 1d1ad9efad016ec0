/**
 * Ranks the systems for each metric. The rank is 1 + the number of systems that are shown to be better, by the effects of
 * the systems on each other; systems without such a verdict share a rank.
 */
import type { ComparisonDocument, Effect, MetricResult, RunDocument } from '../results/document.js';
import type { RankedSystem, Ranking } from '../results/cost-schemas.js';
import { areOnOneCard } from '../results/cards.js';
import { alignedRounds } from '../results/rounds.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import { countedBy, secondsOf } from '../metrics/core/per.js';
import { definitionsIn, isOfProgram, keyOf } from '../metrics/core/stored-definitions.js';
import { hasRatio } from '../stats/rule/effect.js';
import { isCostKey } from './cost-metrics.js';
import { isEnergyKey } from './energy-metrics.js';
import { estimateOver } from './estimate.js';

/** Confidence level of each interval of a ranking. */
export const CONFIDENCE = 0.95;

type Rounds = readonly (readonly RunDocument[])[];

/** Whether a metric is a p99 latency, judged by its key. */
export const isTail = ({ id, unit, direction }: Pick<MetricDefinition, 'id' | 'unit' | 'direction'>): boolean =>
  direction === 'lower' && secondsOf(unit) !== null && /(^|[._-])p99([._-]|$)/.test(keyOf(id));

const isRanked = (metric: MetricDefinition): metric is MetricDefinition & { direction: 'lower' | 'higher' } => {
  if (!isOfProgram(metric.id) || metric.direction === 'none') return false;
  const counted = countedBy(metric);
  const key = keyOf(metric.id);
  return (counted !== null && counted.as !== 'number') || isTail(metric) || isCostKey(key) || isEnergyKey(key);
};

/**
 * Rankings by the rates, p99 latencies, costs and energies of programs. Empty with fewer than two systems besides the
 * reference.
 */
export function rankingsOf({ plan, systems, pairs }: ComparisonDocument): Ranking[] {
  if (plan.order.length === 0 || plan.systems.length < 3) return [];
  return definitionsIn(systems.flat())
    .filter(isRanked)
    .map((metric) => rankingOf(metric, plan.systems, systems, pairs));
}

/** The first system is the reference. */
function rankingOf(
  metric: MetricDefinition & { direction: 'lower' | 'higher' },
  names: readonly string[],
  systems: Rounds,
  pairs: readonly Effect[],
): Ranking {
  const aligned = alignedRounds(systems);
  // Results of different sessions or cards are not compared.
  const places =
    aligned[0]?.map((reference, place) => {
      const others = aligned.slice(1).map((rounds) => rounds[place]);
      const first = reference ?? others[0];
      return others.every((round) => round !== undefined && first !== undefined && areOnOneCard(first, round));
    }) ?? [];
  const armsOf = (index: number) =>
    (aligned[index] ?? []).filter((_, place) => index === 0 || places[place]).flatMap((round) => round ?? []);
  const arms = names.map((_, index) => measuredIn(armsOf(index), metric.id));
  const reasons = arms.map((arm) => whyUnranked(arm, places.some(Boolean)));
  const entries = names.map((system, index): RankedSystem => {
    const { values } = arms[index] as Arm;
    const reason = index === 0 ? REFERENCE : reasons[index];
    const estimate = estimateOver(values, hasRatio(metric.delta, values));
    const isValid = reasons[index] === null;
    return {
      system,
      rank: null,
      rounds: values.length,
      value: isValid ? (estimate?.value ?? null) : null,
      interval: isValid ? (estimate?.interval ?? null) : null,
      ...(reason !== null && reason !== undefined && { reason }),
    };
  });
  const { id, unit, direction } = metric;
  return { metric: id, unit, direction, confidence: CONFIDENCE, systems: ordered(entries, metric, pairs) };
}

export const REFERENCE = 'reference';

interface Arm {
  values: number[];
  /** Status and reason of the rounds without a value, in order. */
  missing: Pick<MetricResult, 'status' | 'reason'>[];
}

function measuredIn(rounds: readonly RunDocument[], id: string): Arm {
  const results = rounds.flatMap(({ metrics }) => metrics.filter((result) => result.id === id));
  return {
    values: results.flatMap(({ status, value }) => (status === 'ok' && value !== null ? [value] : [])),
    missing: results.filter(({ status }) => status !== 'ok'),
  };
}

const FEWEST_ROUNDS = 2;

/** Why a system gets no rank. An invalid round excludes it, just as it gets no verdict; null if it has a rank. */
function whyUnranked({ values, missing }: Arm, areBeside: boolean): string | null {
  const said = ({ status, reason }: Arm['missing'][number]) => (reason ? `${status}: ${reason}` : status);
  const invalid = missing.find(({ status }) => status === 'invalid');
  if (invalid) return said(invalid);
  if (values.length >= FEWEST_ROUNDS) return null;
  if (!areBeside) return 'not measured in the same rounds as the others';
  return missing[0] ? said(missing[0]) : `needs ${FEWEST_ROUNDS} rounds and has ${values.length}`;
}

/** Whether `a` is shown to be better than `b`. */
const isBetter = (a: string, b: string, pairs: readonly Effect[]): boolean =>
  pairs.some(
    ({ system, baseline, verdict }) =>
      (verdict === 'faster' && system === a && baseline === b) ||
      (verdict === 'slower' && system === b && baseline === a),
  );

function ordered(
  entries: readonly RankedSystem[],
  { id, direction }: Pick<MetricDefinition, 'id' | 'direction'>,
  pairs: readonly Effect[],
): RankedSystem[] {
  const ranked = entries.filter(({ reason, interval }) => reason === undefined && interval !== null);
  const own = pairs.filter(({ metric }) => metric === id);
  const sign = direction === 'lower' ? 1 : -1;
  return [
    ...ranked
      .map((entry) => ({
        ...entry,
        rank: 1 + ranked.filter((other) => isBetter(other.system, entry.system, own)).length,
      }))
      .sort((a, b) => a.rank - b.rank || sign * ((a.value as number) - (b.value as number))),
    ...entries.filter((entry) => !ranked.includes(entry)),
  ];
}

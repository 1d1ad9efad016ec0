/** The effects of one system against another one: one family, decided together. */
import type { Effect } from '../../results/document.js';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { recordedVariances } from '../../metrics/recorded-variances.js';
import { isOfProgram } from '../../metrics/core/stored-definitions.js';
import { areSeveral, boundOf, effect, type Effect as Found, type Model } from '../../stats/rule/effect.js';
import { type Family, roundsToDecide, type Variances, variancesOf } from '../../stats/rule/rounds-needed.js';
import { decide, type Decision } from '../../stats/rule/verdict.js';

export type Directed = MetricDefinition & { direction: 'lower' | 'higher' };

export const isDirected = (metric: MetricDefinition): metric is Directed => metric.direction !== 'none';

/** The values of one metric, one per round. */
export interface Measured {
  metric: Directed;
  system: readonly number[];
  baseline: readonly number[];
  /** The card of each pair of them; absent where they are no pairs. */
  cards?: readonly string[];
  /** Why there is no verdict although the metric was measured; null if there may be one. */
  invalid: string | null;
}

/** Returns what is known of a metric before anything is measured. Values of programs count as printed. */
export function modelOf({ id, direction, delta, values, againstNative }: Directed): Model {
  const record = againstNative ? undefined : recordedVariances[id];
  const isOnScale = record?.scale === ('relative' in delta ? 'log' : 'unit');
  return {
    direction,
    delta,
    values: values ?? (isOfProgram(id) ? 'printed' : 'continuous'),
    sd: record && isOnScale ? Math.max(record.sd, record.sdLayer) : null,
  };
}

/** Decides one effect for each of `measured`, which have values in both arms or a reason. */
export function effectsOf(measured: readonly Measured[], system: string, baseline: string): Effect[] {
  const found = measured.map((each) =>
    each.invalid === null ? effect(each.system, each.baseline, modelOf(each.metric), each.cards) : null,
  );
  const family = measured.flatMap(({ metric }, i) => {
    const evidence = found[i]?.evidence;
    return evidence ? [{ metric, evidence, delta: boundOf(metric.delta) }] : [];
  });
  const decisions = decide(family);
  const known = {
    tested: family.filter(({ evidence }) => evidence.p !== null).length,
    established: decisions.filter(({ established }, i) => established && family[i]?.evidence.p !== null).length,
  };
  return measured.map((each, i): Effect => {
    const { metric, system: own, baseline: other, invalid } = each;
    const head = { metric: metric.id, system, baseline, rounds: Math.min(own.length, other.length) };
    const decision = decisions[family.findIndex((member) => member.metric === metric)];
    const numbers = found[i];
    if (!decision || !numbers) return { ...head, ...withoutNumbers(invalid ?? 'not measured') };
    const { evidence, ...rest } = numbers;
    const variances = variancesBetween(each, numbers);
    return {
      ...head,
      ...rest,
      p: evidence.p,
      ...decision,
      roundsNeeded: variances && roundsNeeded(each, numbers, variances, decision, known),
      betweenRounds: variances && [Math.sqrt(variances[0]), Math.sqrt(variances[1])],
      ...(evidence.isExact && { exact: true }),
    };
  });
}

/** The fields of an effect without a verdict: a number of it would be taken for a result. */
export const withoutNumbers = (reason: string) =>
  ({
    ratio: null,
    ratioCi90: null,
    ratioCi95: null,
    difference: null,
    differenceCi90: null,
    differenceCi95: null,
    p: null,
    betweenRounds: null,
    pMannWhitney: null,
    established: false,
    relevance: null,
    roundsNeeded: null,
    verdict: 'invalid',
    reason,
  }) satisfies Partial<Effect>;

/**
 * Variances of both arms on the scale of δ; null with one round in an arm, where cards vary as well, or where a percentage
 * has no ratio to apply to.
 */
function variancesBetween({ metric, system, baseline, cards = [] }: Measured, { ratio }: Found): Variances | null {
  if (Math.min(system.length, baseline.length) < 2 || areSeveral(cards)) return null;
  if ('absolute' in metric.delta) return variancesOf(system, baseline);
  return ratio === null ? null : variancesOf(system.map(Math.log), baseline.map(Math.log));
}

/** Estimates the rounds that would decide an inconclusive verdict; null if it is decided or needs too many. */
function roundsNeeded(
  { metric, system, baseline }: Measured,
  { evidence }: Found,
  variances: Variances,
  { verdict }: Decision,
  family: Family,
): number | null {
  if (verdict !== 'inconclusive' || evidence.p === null) return null;
  const after = Math.min(system.length, baseline.length);
  return roundsToDecide(evidence.centre, variances, { bound: boundOf(metric.delta), family, after });
}

/**
 * The effect of a system against another one, from one value per round and arm. The round is the unit of replication.
 * The same function serves rounds of one comparison, in which both arms ran beside each other, and two sessions.
 */
import { mannWhitney } from './tests.js';
import { differenceEstimate, type Estimate, type Interval, intervalOf, meanEstimate } from './estimate.js';
import { withRecorded } from './recorded-spread.js';
import { type Evidence, evidenceOf, exactEvidence } from './verdict.js';

/** The smallest change that counts: relative (0.02 is 2 %), or absolute in the metric's unit if values may be ≤ 0. */
export type Delta = { relative: number } | { absolute: number };

/**
 * `continuous`, which is a grid of a fiftieth of δ, because no smaller spread is believed; a grid of a step in the metric's
 * unit; `printed`, whose grid is the last decimal place; or `exact` values such as booleans and counts, which do not vary
 * without a cause.
 */
export type ValueKind = 'continuous' | 'exact' | 'printed' | { grid: number };

/** What is known of a metric before anything is measured. */
export interface Model {
  direction: 'lower' | 'higher';
  delta: Delta;
  values: ValueKind;
  /** Recorded standard deviation of one round's value, of its logarithm if δ is relative; null without a record. */
  sd: number | null;
}

export interface Effect {
  /** Oriented so that above 1 is worse; null if δ is absolute, or a value is not positive. */
  ratio: number | null;
  ratioCi90: Interval | null;
  ratioCi95: Interval | null;
  /** System − baseline in the metric's unit, signed, not oriented. */
  difference: number;
  differenceCi90: Interval | null;
  differenceCi95: Interval | null;
  pMannWhitney: number | null;
  /**
   * Evidence on the scale of `boundOf(delta)`: logarithms of the ratio if δ is relative, else the oriented difference.
   */
  evidence: Evidence;
}

/** δ on the scale of the evidence. */
export const boundOf = (delta: Delta): number => ('relative' in delta ? Math.log1p(delta.relative) : delta.absolute);

/** Whether a ratio is meaningful: not if δ is absolute, or a value is zero or negative. */
export const hasRatio = (delta: Delta, ...arms: (readonly number[])[]): boolean =>
  'relative' in delta && arms.every((values) => values.every((value) => value > 0));

/** No grid is finer than this part of δ. */
const FINEST = 50;

/** The step of values around this one, in the metric's unit. */
function stepAt(value: number, { values, delta }: Model, ...arms: (readonly number[])[]): number {
  const finest = ('relative' in delta ? delta.relative * Math.abs(value) : delta.absolute) / FINEST;
  if (typeof values === 'object') return Math.max(finest, values.grid);
  return values === 'printed' ? Math.max(finest, 10 ** -Math.max(...arms.flat().map(decimals))) : finest;
}

/** Places after the decimal point in the shortest text of a number; negative for 1e21. */
function decimals(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e');
  return (digits.split('.')[1]?.length ?? 0) - Number(exponent);
}

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Without a ratio where δ is relative there is nothing to compare with δ, so there is no evidence. */
const NO_EVIDENCE: Evidence = { centre: 0, p: null, ci90: null, ci95: null };

/**
 * `cards`: the card of each pair of values, if they have any. Values of several cards differ by their cards too, so that only the
 * differences within the pairs say something. Throws RangeError if an arm has no values.
 */
export function effect(
  system: readonly number[],
  baseline: readonly number[],
  model: Model,
  cards: readonly string[] = [],
): Effect {
  const { direction, delta, values, sd } = model;
  const means = [average(system), average(baseline)] as const;
  const steps = means.map((mean) => stepAt(mean, model, system, baseline)) as [number, number];
  const worse = direction === 'lower' ? 1 : -1;
  const rounds = Math.min(system.length, baseline.length);
  const recordedFor = (isOnLogs: boolean) => (isOnLogs === 'relative' in delta ? sd : null);
  const estimated = (arms: [readonly number[], readonly number[]], steps: [number, number], onLogs: boolean) =>
    areSeveral(cards)
      ? meanEstimate(
          arms[0].map((value, i) => value - (arms[1][i] as number)),
          Math.hypot(...steps),
        )
      : withRecorded(differenceEstimate(arms[0], arms[1], steps), recordedFor(onLogs), rounds);
  const isRatio = hasRatio(delta, system, baseline);
  const difference = estimated([system, baseline], steps, false);
  const logs = isRatio
    ? estimated([system.map(Math.log), baseline.map(Math.log)], [steps[0] / means[0], steps[1] / means[1]], true)
    : null;
  const isExact = values === 'exact';
  const intervalAt = (estimate: Estimate, alpha: number): Interval | null =>
    isExact ? exactEvidence(estimate.centre, system, baseline).ci95 : intervalOf(estimate, alpha);
  const ratioAt = (alpha: number): Interval | null => {
    const interval = logs && intervalAt(oriented(logs, worse), alpha);
    return interval && [Math.exp(interval[0]), Math.exp(interval[1])];
  };
  const deciding = 'relative' in delta ? logs : difference;
  return {
    ratio: logs && Math.exp(worse * logs.centre),
    ratioCi90: ratioAt(0.1),
    ratioCi95: ratioAt(0.05),
    difference: difference.centre,
    differenceCi90: intervalAt(difference, 0.1),
    differenceCi95: intervalAt(difference, 0.05),
    pMannWhitney: areSeveral(cards) ? null : mannWhitney(system, baseline),
    evidence: deciding ? evidenceFor(oriented(deciding, worse), isExact ? [system, baseline] : null) : NO_EVIDENCE,
  };
}

export const areSeveral = (cards: readonly string[]): boolean => new Set(cards).size > 1;

const evidenceFor = (estimate: Estimate, exact: [readonly number[], readonly number[]] | null): Evidence =>
  exact ? exactEvidence(estimate.centre, ...exact) : evidenceOf(estimate);

const oriented = (estimate: Estimate, worse: number): Estimate => ({ ...estimate, centre: worse * estimate.centre });

/** A difference whose expected value without cost is zero, from one value per round: any cost counts, however small. */
interface ZeroEffect {
  value: number;
  ci95: Interval | null;
  evidence: Evidence;
}

export function againstZero(values: readonly number[], step = 0): ZeroEffect {
  const estimate = meanEstimate(values, step);
  return { value: estimate.centre, ci95: intervalOf(estimate), evidence: evidenceOf(estimate) };
}

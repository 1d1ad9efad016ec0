/**
 * The effect of a system against a baseline, from one value per round and arm. The round is the unit of replication:
 * both arms ran in it, next to each other, so drift between rounds cancels.
 */
import { mean, sampleStandardDeviation } from 'simple-statistics';
import type { Effect as DocumentEffect } from '../results/document.js';
import { tCritical, tUpperTail } from './student-t.js';
import { mannWhitney, welch } from './tests.js';

export type Verdict = 'faster' | 'slower' | 'same' | 'inconclusive' | 'invalid';
export type Interval = [number, number];

/** The smallest change that counts: relative (0.02 is 2 %), or absolute in the metric's unit if values may be ≤ 0. */
export type Delta = { relative: number } | { absolute: number };

export interface Round {
  system: number;
  baseline: number;
}

export interface Effect {
  /** Oriented so that above 1 is worse; null if δ is absolute, or a value is not positive. */
  ratio: number | null;
  ratioCi95: Interval | null;
  /** System − baseline in the metric's unit, signed, not oriented. */
  difference: number;
  differenceCi95: Interval | null;
  verdictRaw: Verdict;
  /** Two-sided p of the hypothesis that the effect lies within ±δ; Holm's method adjusts it. */
  pBeyondDelta: number | null;
  pValues: { welch: number | null; mannWhitney: number | null };
}

export interface TEstimate {
  centre: number;
  standardError: number;
  df: number;
}

/** Null below two values. */
export function tEstimate(values: readonly number[]): TEstimate | null {
  if (values.length < 2) return null;
  const centre = mean([...values]);
  return {
    centre,
    standardError: sampleStandardDeviation([...values]) / Math.sqrt(values.length),
    df: values.length - 1,
  };
}

/** 95 % interval. */
export function interval({ centre, standardError, df }: TEstimate): Interval {
  const half = tCritical(0.05, df) * standardError;
  return [centre - half, centre + half];
}

/** The estimate is on a scale where 0 is no effect, positive is worse, and changes within ±bound do not count. */
function judge(estimate: TEstimate | null, bound: number): { verdict: Verdict; p: number | null } {
  if (!estimate) return { verdict: 'inconclusive', p: null };
  const [low, high] = interval(estimate);
  const beyond = (Math.abs(estimate.centre) - bound) / estimate.standardError;
  // Without any variation the result is certain.
  const p = Number.isNaN(beyond) ? 1 : Math.min(1, 2 * tUpperTail(beyond, estimate.df));
  if (low > bound) return { verdict: 'slower', p };
  if (high < -bound) return { verdict: 'faster', p };
  return { verdict: low >= -bound && high <= bound ? 'same' : 'inconclusive', p };
}

/** Whether a ratio is meaningful: not if δ is absolute, or a value is zero or negative. */
export const hasRatio = (delta: Delta, ...arms: (readonly number[])[]): boolean =>
  'relative' in delta && arms.every((values) => values.length > 0 && values.every((value) => value > 0));

export function effect(rounds: readonly Round[], direction: 'lower' | 'higher', delta: Delta): Effect {
  const system = rounds.map((round) => round.system);
  const baseline = rounds.map((round) => round.baseline);
  const logs = hasRatio(delta, system, baseline) ? rounds.map((round) => Math.log(round.system / round.baseline)) : [];
  const differences = tEstimate(rounds.map((round) => round.system - round.baseline));
  const found = effectOf({ system, baseline, differences, logs: tEstimate(logs) }, direction, delta);
  const [log, ...others] = logs;
  if (log === undefined || others.length > 0) return found;
  // A single round, e.g. of an interrupted run: a ratio like the finished run's, without an interval.
  return { ...found, ratio: Math.exp(direction === 'lower' ? log : -log) };
}

export interface Estimates {
  system: readonly number[];
  baseline: readonly number[];
  /** System − baseline. */
  differences: TEstimate | null;
  /** Estimate of the logarithms, if there is a ratio. */
  logs: TEstimate | null;
}

/** Common to both kinds of comparison, by pairs and between sessions. */
export function effectOf(
  { system, baseline, differences, logs }: Estimates,
  direction: 'lower' | 'higher',
  delta: Delta,
): Effect {
  const worse = direction === 'lower' ? 1 : -1;
  const oriented = (estimate: TEstimate | null) => estimate && { ...estimate, centre: worse * estimate.centre };
  const worseLogs = oriented(logs);
  const { verdict, p } =
    'relative' in delta ? judge(worseLogs, Math.log1p(delta.relative)) : judge(oriented(differences), delta.absolute);
  const logCi = worseLogs && interval(worseLogs);
  return {
    ratio: worseLogs && Math.exp(worseLogs.centre),
    ratioCi95: logCi && [Math.exp(logCi[0]), Math.exp(logCi[1])],
    difference: differences?.centre ?? (system[0] ?? Number.NaN) - (baseline[0] ?? Number.NaN),
    differenceCi95: differences && interval(differences),
    verdictRaw: verdict,
    pBeyondDelta: p,
    pValues: { welch: welch(system, baseline), mannWhitney: mannWhitney(system, baseline) },
  };
}

/** The effect of a difference whose expected value without cost is zero, from one value per round. */
export interface ZeroEffect {
  value: number;
  ci95: Interval | null;
  verdictRaw: Verdict;
  /** Two-sided p of the hypothesis that it is zero. */
  pBeyondDelta: number | null;
}

/** `same` only if every value is zero: any other difference counts, however small; its size is shown. */
export function againstZero(values: readonly number[]): ZeroEffect {
  const estimate = tEstimate(values);
  const { verdict, p } = judge(estimate, 0);
  return {
    value: estimate?.centre ?? (values[0] as number),
    ci95: estimate && interval(estimate),
    verdictRaw: verdict,
    pBeyondDelta: p,
  };
}

/**
 * Holm's step-down adjustment (S. Holm, 1979) over a set of effects: a `slower` or `faster` that does not survive it
 * becomes `inconclusive`. `same` claims no difference and is not adjusted.
 */
export function holmVerdicts(effects: readonly Pick<Effect, 'verdictRaw' | 'pBeyondDelta'>[], alpha = 0.05): Verdict[] {
  const tested = effects
    .map(({ pBeyondDelta }, index) => ({ p: pBeyondDelta, index }))
    .filter((entry): entry is { p: number; index: number } => entry.p !== null)
    .sort((a, b) => a.p - b.p);
  const rejected = new Set<number>();
  for (const [rank, { p, index }] of tested.entries()) {
    if (p * (tested.length - rank) > alpha) break;
    rejected.add(index);
  }
  return effects.map(({ verdictRaw }, index) =>
    (verdictRaw === 'slower' || verdictRaw === 'faster') && !rejected.has(index) ? 'inconclusive' : verdictRaw,
  );
}

/** The form in a document; `about` names metric and system. */
export function published(
  { difference, pBeyondDelta: _, ...found }: Effect & Pick<DocumentEffect, 'bootstrapCi95'>,
  about: Pick<DocumentEffect, 'metric' | 'system' | 'baseline' | 'rounds' | 'verdict' | 'reason'>,
): DocumentEffect {
  return { ...about, ...found, difference: Number.isFinite(difference) ? difference : null };
}

/**
 * The effect of a system against a baseline, from one value a round and arm. The round is the unit of replication: both
 * arms ran in it, next to each other, so what drifts between rounds cancels.
 */
import { mean, sampleStandardDeviation } from 'simple-statistics';
import type { Effect as DocumentEffect } from '../results/document.js';
import { tCritical, tUpperTail } from './student-t.js';
import { mannWhitney, welch } from './tests.js';

export type Verdict = 'faster' | 'slower' | 'same' | 'inconclusive' | 'invalid';
export type Interval = [number, number];

/** What counts as a difference: relative (0.02 is 2 %), or absolute in the metric's unit where values may be ≤ 0. */
export type Delta = { relative: number } | { absolute: number };

export interface Round {
  system: number;
  baseline: number;
}

export interface Effect {
  /** Oriented so that above 1 is worse; null where δ is absolute, or a value is not positive. */
  ratio: number | null;
  ratioCi95: Interval | null;
  /** System − baseline in the metric's unit, signed, not oriented. */
  difference: number;
  differenceCi95: Interval | null;
  verdictRaw: Verdict;
  /** Two-sided p of the hypothesis that the effect lies within ±δ; what Holm's method adjusts. */
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

/** 95 %. */
export function interval({ centre, standardError, df }: TEstimate): Interval {
  const half = tCritical(0.05, df) * standardError;
  return [centre - half, centre + half];
}

/** On a scale where 0 is no effect, positive is worse, and ±bound is what does not count. */
function judge(estimate: TEstimate | null, bound: number): { verdict: Verdict; p: number | null } {
  if (!estimate) return { verdict: 'inconclusive', p: null };
  const [low, high] = interval(estimate);
  const beyond = (Math.abs(estimate.centre) - bound) / estimate.standardError;
  // No variation at all leaves no doubt either way.
  const p = Number.isNaN(beyond) ? 1 : Math.min(1, 2 * tUpperTail(beyond, estimate.df));
  if (low > bound) return { verdict: 'slower', p };
  if (high < -bound) return { verdict: 'faster', p };
  return { verdict: low >= -bound && high <= bound ? 'same' : 'inconclusive', p };
}

/** Whether a ratio says the same from value to value: not where δ is absolute, or a value is zero or negative. */
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
  // Of a single round, as of an interrupted run: a ratio like that of the finished one, without an interval.
  return { ...found, ratio: Math.exp(direction === 'lower' ? log : -log) };
}

export interface Estimates {
  system: readonly number[];
  baseline: readonly number[];
  /** System − baseline. */
  differences: TEstimate | null;
  /** Of the logarithms, where there is a ratio. */
  logs: TEstimate | null;
}

/** What both kinds of comparison, by pairs and between sessions, say of their estimates. */
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

/** Of a difference that is zero where nothing costs anything, from its value a round. */
export interface ZeroEffect {
  value: number;
  ci95: Interval | null;
  verdictRaw: Verdict;
  /** Two-sided p of the hypothesis that it is zero. */
  pBeyondDelta: number | null;
}

/** `same` only where every value is zero: a difference however small is one, and how large it is stands beside it. */
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
 * becomes `inconclusive`. `same` claims no difference and is left alone.
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

/** As a document holds it; `about` is whose it is. */
export function published(
  { difference, pBeyondDelta: _, ...found }: Effect & Pick<DocumentEffect, 'bootstrapCi95'>,
  about: Pick<DocumentEffect, 'metric' | 'system' | 'baseline' | 'rounds' | 'verdict' | 'reason'>,
): DocumentEffect {
  return { ...about, ...found, difference: Number.isFinite(difference) ? difference : null };
}

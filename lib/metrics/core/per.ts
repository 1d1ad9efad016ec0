/** What a metric counts (tokens, requests or steps): as a rate, as the time of one, or as their number in a run. */
import type { MetricResult } from '../../results/document.js';

export const pers = ['token', 'request', 'step'] as const;
export type Per = (typeof pers)[number];

/**
 * `none`: the metric counts nothing, although its unit looks so; for example, tokens per second of one of many users.
 */
export const perChoices = [...pers, 'none'] as const;
export type PerChoice = (typeof perChoices)[number];

/** How a metric counts: number per second, seconds for one, or number per run. */
type Counting = { as: 'rate' } | { as: 'time'; seconds: number } | { as: 'number' };

const times: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };
const words: readonly [Per, RegExp][] = [
  ['token', /^tok(?:en)?s?$/],
  ['request', /^req(?:uest)?s?$/],
  ['step', /^steps?$/],
];

const named = (word: string): Per | null => words.find(([, pattern]) => pattern.test(word))?.[0] ?? null;

/** The length of a unit of time in seconds; null for any other unit. */
export const secondsOf = (unit: string): number | null => (Object.hasOwn(times, unit) ? (times[unit] as number) : null);

/** For metrics that say what they count; null if the unit cannot count. */
export function countingOf(unit: string): Counting | null {
  if (unit.endsWith('/s')) return { as: 'rate' };
  const seconds = secondsOf(unit);
  if (seconds !== null) return { as: 'time', seconds };
  return unit === 'count' || named(unit) !== null ? { as: 'number' } : null;
}

export type Counted = Counting & { per: Per };

/** What of a metric's definition says what it counts. */
interface Countable extends Pick<MetricResult, 'unit' | 'direction'> {
  per?: PerChoice;
}

/**
 * Uses the definition, or else its unit: `tokens/s`, `requests/s`, `steps/s`, `tokens`. Null: the metric counts
 * nothing.
 */
export function countedBy({ unit, direction, per }: Countable): Counted | null {
  if (per === 'none') return null;
  const counting = countingOf(unit);
  // The unit of a time does not say what took that time.
  const what = per ?? (counting?.as === 'time' ? null : named(unit.replace(/\/s$/, '')));
  if (counting === null || what === null || what === undefined) return null;
  const better = { rate: 'higher', time: 'lower', number: null }[counting.as];
  return better === null || better === direction ? { ...counting, per: what } : null;
}

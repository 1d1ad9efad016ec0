/** Limits that users set for cards: a value that none may be beyond, or a distance from the median of its group. */
import picomatch from 'picomatch';
import { quoted, UsageError } from '../../errors/usage-error.js';

export interface CardLimit {
  /** What was given. */
  text: string;
  /** The metric id, or glob over ids, in it. */
  metric: string;
  matches: (metric: string) => boolean;
  /** In the metric's unit, or part of the group's median. */
  value: number;
  isRelative: boolean;
}

const form = /^([^=]+)=([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?)(%?)$/i;

/** `OH-001=5.2` or `'OH-*=20%'`. Throws UsageError. */
export function parseLimit(text: string): CardLimit {
  const [, metric, number, percent] = form.exec(text) ?? [];
  const value = Number(number);
  if (metric === undefined || !Number.isFinite(value) || (percent === '%' && value <= 0))
    throw new UsageError(
      `Expected --limit to be METRIC=VALUE in the unit of the metric, or METRIC=PERCENT% above 0 from the median, but received ${quoted(text)}.`,
    );
  const isRelative = percent === '%';
  return { text, metric, matches: picomatch(metric), value: isRelative ? value / 100 : value, isRelative };
}

/** With two cards nothing says which of them is the slow one. */
export const FEWEST_FOR_MEDIAN = 3;

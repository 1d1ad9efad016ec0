/** Durations with their unit, such as 100ms, 30s, 5min or 1h30min. */
import { granted, Refused } from './refused.js';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1e3, min: 60e3, h: 3_600e3 };

export interface DurationLimits {
  shortestMs: number;
  longestMs: number;
}

/** Uses the largest unit that gives a whole number. */
export function durationText(ms: number): string {
  const unit = Object.entries(units).findLast(([, each]) => ms % each === 0 && ms >= each);
  return unit ? `${ms / unit[1]} ${unit[0]}` : `${ms} ms`;
}

/** Returns whole milliseconds. */
export function readDuration(text: string, { shortestMs, longestMs }: DurationLimits): number | Refused {
  const ms = msOf(text.trim());
  if (ms >= shortestMs && ms <= longestMs) return ms;
  const range = `from ${durationText(shortestMs)} to ${durationText(longestMs)}`;
  const hint = /^\d+(\.\d+)?$/.test(text.trim()) ? 'add a unit, ms, s, min or h.' : '';
  return new Refused(`a duration with its unit, such as 100ms or 2s, ${range}`, hint);
}

interface DurationRules extends DurationLimits {
  /** The name of the setting, e.g. `--interval`. */
  what: string;
}

/** `readDuration` of an option. Throws UsageError. */
export const parseDuration = (text: string, { what, ...limits }: DurationRules): number =>
  granted(readDuration(text, limits), what, text);

/** NaN if it is none. Parts go from the largest unit to the smallest. */
function msOf(text: string): number {
  if (!/^(?:\d+(?:\.\d+)? ?(?:ms|s|min|h) ?)+$/.test(text)) return NaN;
  const parts = [...text.matchAll(/([\d.]+) ?(ms|s|min|h)/g)].map(([, digits, unit = '']) => ({
    ms: Number(digits) * (units[unit] as number),
    unitMs: units[unit] as number,
  }));
  const isOrdered = parts.every(({ unitMs }, index) => index === 0 || unitMs < (parts[index - 1]?.unitMs ?? 0));
  return isOrdered ? Math.round(parts.reduce((sum, { ms }) => sum + ms, 0)) : NaN;
}

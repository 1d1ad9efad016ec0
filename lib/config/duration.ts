/** Durations with their unit, such as 100ms, 30s or 5min. */
import { quoted, UsageError } from '../errors/usage-error.js';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1e3, min: 60e3, h: 3_600e3 };

export interface DurationRules {
  /** The name of the setting, e.g. `--interval`. */
  what: string;
  shortestMs: number;
  longestMs: number;
}

/** Uses the largest unit that gives a whole number. */
export function durationText(ms: number): string {
  const unit = Object.entries(units).findLast(([, each]) => ms % each === 0 && ms >= each);
  return unit ? `${ms / unit[1]} ${unit[0]}` : `${ms} ms`;
}

/** Returns whole milliseconds. Throws UsageError. */
export function parseDuration(text: string, { what, shortestMs, longestMs }: DurationRules): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?) ?(ms|s|min|h)$/.exec(text.trim()) ?? [];
  const ms = digits === undefined || unit === undefined ? NaN : Math.round(Number(digits) * (units[unit] as number));
  if (ms >= shortestMs && ms <= longestMs) return ms;
  const range = `from ${durationText(shortestMs)} to ${durationText(longestMs)}`;
  const hint = /^\d+(\.\d+)?$/.test(text.trim()) ? `: add a unit, ms, s, min or h` : '';
  throw new UsageError(
    `Expected ${what} to be a duration with its unit, such as 100ms or 2s, ${range} but received ${quoted(text)}${hint}.`,
  );
}

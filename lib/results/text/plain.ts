/** Text made safe and readable for a terminal. */

import { stripVTControlCharacters } from 'node:util';

/** Removes control characters: names come from drivers, files and environments, and must not control the terminal. */
export function plain(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim();
}

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * Formats a configured or counted number: at most four significant digits, in full if that is short: 0.01234, 3.142,
 * 1234, 1.235e+7. An overflow is not printed as a number.
 */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3);
  if (size >= 1_000) return String(Math.round(value));
  return String(Number(value.toPrecision(4)));
}

/** `90 s`, `5 min`, `2 h 10 min`, `14 h`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes <= MOST_MINUTES) return `${minutes} min`;
  if (minutes >= 60 * WHOLE_HOURS) return `${Math.round(minutes / 60)} h`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`;
}

/** More are easier to read as hours. */
const MOST_MINUTES = 90;
/** Hours from which on minutes do not matter. */
const WHOLE_HOURS = 10;

export const bytes = (count: number): string => `${number(count / 2 ** 30)} GiB`;

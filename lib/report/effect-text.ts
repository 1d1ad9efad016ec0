/** Effects in words that every format shares. */
import type { Effect } from '../document.js';
import { number, range } from './plain.js';
import type { Row } from './view.js';

export type Verdict = Effect['verdict'];

/** In the order in which they are told. */
export const VERDICTS: readonly Verdict[] = ['slower', 'faster', 'same', 'ambiguous', 'invalid'];

/** On the scale of ratios, where `unit` is null, or of differences. */
export interface Scaled {
  unit: string | null;
  ci95: [number, number] | null;
}

/** The ratio where there is one with an interval, else the difference. */
export function sizeOf(effect: Effect, unit: string): (Scaled & { value: number }) | null {
  const { ratio, ratioCi95, difference, differenceCi95 } = effect;
  if (ratio !== null && ratioCi95) return { value: ratio, unit: null, ci95: ratioCi95 };
  return difference === null ? null : { value: difference, unit, ci95: differenceCi95 };
}

/** Of an interval's width: below it a difference is what rounding leaves of two equal numbers (2.960e-16 of ± 0.0006). */
const REST = 1e-9;

export function sizeText({ value, unit, ci95 }: Scaled & { value: number }): string {
  if (unit === null) return `× ${number(value)}`;
  const isRest = ci95 !== null && Math.abs(value) < REST * (ci95[1] - ci95[0]);
  const shown = isRest ? 0 : value;
  return `${shown > 0 ? '+' : ''}${number(shown)} ${unit}`;
}

/** `× 1.08 (1.07 … 1.1)` or `+12 ns (10 … 14)`; `–` where there is none. */
export function effectText(effect: Effect | null, unit: string): string {
  const size = effect && sizeOf(effect, unit);
  if (!size) return '–';
  return `${sizeText(size)}${size.ci95 ? ` (${range(size.ci95)})` : ''}`;
}

/** A document does not say which scale it is on: it is drawn from values and blocks, and a ratio needs all of them positive. */
export function bootstrapOf({ ratio, system, baseline, bootstrapCi95 }: Effect, { unit, cells }: Row): Scaled {
  const arms = cells.filter((cell) => cell.system === system || cell.system === baseline);
  const blocks = arms.flatMap(({ results }) => results.flatMap((result) => result.blocks ?? []));
  return { unit: ratio !== null && blocks.every((block) => block > 0) ? null : unit, ci95: bootstrapCi95 };
}

/** `× 1.07 … 1.1` or `10 … 14 ns`. */
export function scaledText({ unit, ci95 }: Scaled): string {
  if (!ci95) return '–';
  return unit === null ? `× ${range(ci95)}` : `${range(ci95)} ${unit}`;
}

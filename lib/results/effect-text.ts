/** Text of effects, shared by all formats. */
import type { Effect } from './document.js';
import { estimateText, type EstimateText, inOneLine, range } from './quantity.js';
import type { Row } from './view.js';

export type Verdict = Effect['verdict'];

/** The verdicts in the order of presentation. */
export const VERDICTS: readonly Verdict[] = ['slower', 'faster', 'same', 'inconclusive', 'invalid'];

/** A ratio if `unit` is null, else a difference. */
export interface Scaled {
  unit: string | null;
  ci95: [number, number] | null;
}

export interface Size extends Scaled {
  value: number;
}

/**
 * The ratio if there is one, else the difference; the same kind for all effects of a metric, whatever the number of
 * rounds.
 */
export function sizeOf({ ratio, ratioCi95, difference, differenceCi95 }: Effect, unit: string): Size | null {
  if (ratio !== null) return { value: ratio, unit: null, ci95: ratioCi95 };
  return difference === null ? null : { value: difference, unit, ci95: differenceCi95 };
}

export const sizeText = (size: Size): EstimateText => estimateText(size, size.unit, size.unit !== null);

/** `× 1.080 (1.072 … 1.099)` or `+12.00 ns (+10.00 … +14.00)`; `–` if there is no effect. */
export function effectText(effect: Effect | null, unit: string): string {
  const size = effect && sizeOf(effect, unit);
  return size ? inOneLine(sizeText(size)) : '–';
}

/**
 * A document does not record the scale of the bootstrap interval, so it is derived here: values and blocks must all be
 * positive for a ratio.
 */
export function bootstrapOf({ ratio, system, baseline, bootstrapCi95 }: Effect, { unit, cells }: Row): Scaled {
  const arms = cells.filter((cell) => cell.system === system || cell.system === baseline);
  const blocks = arms.flatMap(({ results }) => results.flatMap((result) => result.blocks ?? []));
  return { unit: ratio !== null && blocks.every((block) => block > 0) ? null : unit, ci95: bootstrapCi95 };
}

/** `× 1.072 … 1.099` or `+10.00 … +14.00 ns`. */
export function scaledText({ unit, ci95 }: Scaled): string {
  if (!ci95) return '–';
  if (unit === null) return `× ${range(ci95)}`;
  const { interval, unit: shown } = sizeText({ value: ci95[1], ci95, unit });
  return `${interval} ${shown}`;
}

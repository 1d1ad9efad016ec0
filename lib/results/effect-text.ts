/** Effects in words that every format shares. */
import type { Effect } from './document.js';
import { estimateText, type EstimateText, inOneLine, range } from './quantity.js';
import type { Row } from './view.js';

export type Verdict = Effect['verdict'];

/** In the order in which they are told. */
export const VERDICTS: readonly Verdict[] = ['slower', 'faster', 'same', 'inconclusive', 'invalid'];

/** On the scale of ratios, where `unit` is null, or of differences. */
export interface Scaled {
  unit: string | null;
  ci95: [number, number] | null;
}

export interface Size extends Scaled {
  value: number;
}

/** The ratio where there is one, else the difference: of a metric the same one, however many rounds there are. */
export function sizeOf({ ratio, ratioCi95, difference, differenceCi95 }: Effect, unit: string): Size | null {
  if (ratio !== null) return { value: ratio, unit: null, ci95: ratioCi95 };
  return difference === null ? null : { value: difference, unit, ci95: differenceCi95 };
}

export const sizeText = (size: Size): EstimateText => estimateText(size, size.unit, size.unit !== null);

/** `× 1.080 (1.072 … 1.099)` or `+12.00 ns (+10.00 … +14.00)`; `–` where there is none. */
export function effectText(effect: Effect | null, unit: string): string {
  const size = effect && sizeOf(effect, unit);
  return size ? inOneLine(sizeText(size)) : '–';
}

/** A document does not say which scale it is on: it is drawn from values and blocks, and a ratio needs all of them positive. */
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

/** Values that cannot be: of fresh results, and of those in saved documents. */
import type { MetricResult } from '../../results/document.js';
import { number } from '../../results/text/plain.js';
import type { MetricDefinition } from './metric.js';

/** No measured value comes near it, and beyond it derived values would overflow. */
export const LARGEST = 1e100;

type Own = Pick<MetricResult, 'value' | 'unit' | 'details'>;

/** Why a value cannot be what it says; null where it can. */
export function impossibleValue(definition: Pick<MetricDefinition, 'impossible' | 'delta'>, own: Own): string | null {
  const { value, unit } = own;
  if (value === null || Number.isNaN(value)) return 'ok without a value';
  if (Math.abs(value) > LARGEST) return `a number beyond ${LARGEST}`;
  const contradicted = definition.impossible?.(own) ?? null;
  if (contradicted !== null) return contradicted;
  // It is compared by ratio.
  return value <= 0 && 'relative' in definition.delta ? `${number(value)} ${unit}` : null;
}

/** For `impossible` of a metric whose values have bounds. */
export const outside =
  (least: number, most: number) =>
  ({ value, unit }: Own): string | null =>
    value !== null && (value < least || value > most) ? `${number(value)} ${unit}` : null;

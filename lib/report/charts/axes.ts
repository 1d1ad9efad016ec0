/** Axes whose ends, ticks and margins ECharts chooses. */
import type { AxisScales } from '../../metrics/core/metric.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { number } from '../../results/text/plain.js';
import { asDrawn, LINE } from './text.js';
import { axisLook, TEXT } from './theme.js';

/** Bounds between which ECharts finds distinct ticks. Values beyond them appear in tables but not in charts. */
const SMALLEST = 1e-12;
const LARGEST = 1e15;

export const isDrawable = (value: number | null | undefined): value is number =>
  typeof value === 'number' && (value === 0 || (Math.abs(value) >= SMALLEST && Math.abs(value) <= LARGEST));

export type Kind = AxisScales['x'];

export const hasPlace = (value: number, kind: Kind): boolean => isDrawable(value) && (kind === undefined || value > 0);

function tickText(tick: number): string {
  const value = Number(tick.toPrecision(12));
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential() : String(value);
}

const labelled = (formatter: (value: number) => string) => ({
  ...axisLook,
  axisLabel: { ...axisLook.axisLabel, formatter, hideOverlap: true },
});

/** A linear axis that includes 0 unless it is scaled to its values. */
export const linear = (splitNumber: number, scale = false) => ({
  type: 'value' as const,
  ...labelled(tickText),
  splitNumber,
  scale,
});

/** How many times apart values must be for powers of ten to be labels enough. */
const WIDE = 20;

/** A linear axis, or one with powers of 2 or 10, for the given values. */
export function axisOf(values: readonly number[], kind: Kind, splitNumber: number, scale = false) {
  if (kind === undefined) return linear(splitNumber, scale);
  const isNarrow = Math.max(...values) < WIDE * Math.min(...values);
  const text = kind === 'bytes' ? formatBytes : tickText;
  return { type: 'log' as const, ...labelled(text), logBase: kind === 'bytes' || isNarrow ? 2 : 10 };
}

/** A value of an axis, in text. */
export const valueText = (kind: Kind, value: number): string => (kind === 'bytes' ? formatBytes(value) : number(value));

/** One row or column per text. Texts are never passed to ECharts as data: it would expand templates and merge duplicates. */
export const categories = (texts: readonly string[], color: string | ((row: number) => string) = TEXT) => ({
  type: 'category' as const,
  ...axisLook,
  axisLine: { show: false },
  splitLine: { show: false },
  data: texts.map((_, i) => i),
  axisLabel: {
    ...axisLook.axisLabel,
    color: typeof color === 'string' ? color : (_?: string | number, row = 0) => color(row),
    interval: 0,
    lineHeight: LINE,
    formatter: (_: string, i: number) => asDrawn(texts[i] ?? ''),
  },
});

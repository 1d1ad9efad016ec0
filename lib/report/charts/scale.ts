/** Axes that end at round numbers, for any values in a document. */
import { formatBytes } from '../../metrics/units.js';

/** Between these bounds differences and powers of ten are finite. Values beyond appear in tables but not in charts. */
const SMALLEST = 1e-200;
const LARGEST = 1e200;
const NARROW = 1e-6;

export const isDrawable = (value: number | null | undefined): value is number =>
  typeof value === 'number' && (value === 0 || (Math.abs(value) >= SMALLEST && Math.abs(value) <= LARGEST));

export interface Scale {
  min: number;
  max: number;
  interval: number;
  /** Whether the other axis crosses it at 0, where that is on it. */
  crossesAtZero: boolean;
  /** Maps a value to its place on the axis. Places are near 1, because ECharts rounds to twenty decimals. */
  place: (value: number) => number;
  /** The value at a place. */
  valueAt: (place: number) => number;
  /** Maps a place to its label. */
  format: (place: number) => string;
}

/** Labels of the ticks, from first to last. */
export function ticksOf({ min, max, interval, format }: Scale): string[] {
  return Array.from({ length: Math.round((max - min) / interval) + 1 }, (_, i) => format(min + i * interval));
}

/** The next 1, 2 or 5 times a power of ten. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const factor = step / power;
  return (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10) * power;
}

function widened(low: number, high: number): [number, number] {
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (size === 0) return [0, 1];
  return high - low < NARROW * size ? [low - size / 20, high + size / 20] : [low, high];
}

/** A linear axis for drawable values; from 0 to 1 if there are none. */
export function linear(values: readonly number[], { ticks = 4, zero = false } = {}): Scale {
  const all = values.length === 0 || zero ? [0, ...values] : values;
  const bounds = all.reduce(([low, high], value): [number, number] => [Math.min(low, value), Math.max(high, value)], [
    Infinity,
    -Infinity,
  ] as [number, number]);
  const [low, high] = widened(...bounds);
  const unit = 10 ** Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high))));
  const interval = roundStep((high / unit - low / unit) / ticks);
  return {
    min: Math.floor(low / unit / interval + NARROW) * interval,
    max: Math.ceil(high / unit / interval - NARROW) * interval,
    interval,
    crossesAtZero: true,
    place: (value) => value / unit,
    valueAt: (at) => at * unit,
    format: (place) => tickText(place, interval, unit),
  };
}

function tickText(place: number, interval: number, unit: number): string {
  const value = place * unit;
  const steps = Math.round(place / interval);
  if (steps === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) {
    const digits = Math.floor(Math.log10(Math.abs(place))) - Math.floor(Math.log10(interval) + NARROW);
    return value.toExponential(Math.min(Math.max(digits, 0), 10));
  }
  const decimals = -Math.floor(Math.log10(interval * unit) + NARROW);
  return value.toFixed(Math.min(Math.max(decimals, 0), 12));
}

/** From it on, powers of ten are labels enough. */
const WIDE = 20;

/** Equal ratios are equally far apart. For drawable values above 0; from 1 to 10 if there are none. */
export function logarithmic(values: readonly number[], { ticks = 4, bytes = false } = {}): Scale {
  const all = values.length === 0 ? [1, 10] : values;
  const [low, high] = all.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [
    Infinity,
    0,
  ] as [number, number]);
  const base = bytes || high / low < WIDE ? 2 : 10;
  const place = (value: number) => Math.log2(value) / Math.log2(base);
  const min = Math.floor(place(low) + NARROW);
  const span = Math.max(1, Math.ceil(place(high) - NARROW) - min);
  const interval = Math.ceil(span / ticks);
  return {
    min,
    max: min + interval * Math.ceil(span / interval),
    interval,
    crossesAtZero: false,
    place,
    valueAt: (at) => base ** at,
    format: (at) => (bytes ? formatBytes(base ** at) : powerText(base ** at)),
  };
}

function powerText(power: number): string {
  const value = Number(power.toPrecision(12));
  return value >= 1e7 || value < 1e-4 ? value.toExponential(0) : String(value);
}

/** For ratios, on a logarithmic axis: round factors if they are far apart, round numbers if they are close. */
export function factors(low: number, high: number): number[] {
  if (high / low < 4) {
    const { min, max, interval, place } = linear([low, high], { ticks: 6 });
    const unit = 1 / place(1);
    const count = Math.round((max - min) / interval);
    const all = Array.from({ length: count + 1 }, (_, i) => Number(((min + i * interval) * unit).toPrecision(8)));
    return all.filter((factor) => factor >= low && factor <= high);
  }
  const decades = Array.from(
    { length: Math.ceil(Math.log10(high)) - Math.floor(Math.log10(low)) + 1 },
    (_, i) => Math.floor(Math.log10(low)) + i,
  );
  const steps = high / low < 30 ? [1, 1.5, 2, 3, 5, 7] : high / low < 1_000 ? [1, 2, 5] : [1];
  const every = Math.ceil(decades.length / 8);
  return decades
    .filter((decade) => decade % every === 0)
    .flatMap((decade) => steps.map((step) => Number(`${step}e${decade}`)))
    .filter((factor) => factor >= low && factor <= high);
}

/** Measured numbers for people: four significant digits and a unit that fits. Programs get the metric's own unit. */

/** Each ordered from the smallest unit; `size` is relative to the smallest. */
const ladders: readonly (readonly (readonly [unit: string, size: number])[])[] = [
  [
    ['ns', 1],
    ['us', 1e3],
    ['ms', 1e6],
    ['s', 1e9],
  ],
  [
    ['bytes', 1],
    ['kB', 1e3],
    ['MB', 1e6],
    ['GB', 1e9],
    ['TB', 1e12],
  ],
];

/** The unit to show `unit` in: values are divided by `size`. */
export interface Scale {
  unit: string;
  size: number;
}

/** The greatest unit in which the largest of `values` is at least 1; unknown units are kept. */
export function fitting(values: readonly number[], unit: string): Scale {
  const ladder = ladders.find((steps) => steps.some(([name]) => name === unit)) ?? [];
  const own = ladder.find(([name]) => name === unit)?.[1] ?? 1;
  const largest = largestOf(values);
  if (largest === 0 || !Number.isFinite(largest)) return { unit, size: 1 };
  const [name, size] = ladder.findLast((step) => rounded((largest * own) / step[1]) >= 1) ?? ladder[0] ?? [unit, own];
  return { unit: name, size: size / own };
}

/** How many of the second unit one of the first is; null if they are of different kinds. */
export function unitsIn(unit: string, other: string): number | null {
  if (unit === other) return 1;
  const ladder = ladders.find((steps) => steps.some(([name]) => name === unit)) ?? [];
  const [own, others] = [unit, other].map((wanted) => ladder.find(([name]) => name === wanted)?.[1]);
  return own === undefined || others === undefined ? null : own / others;
}

const largestOf = (values: readonly number[]): number =>
  values.reduce((most, each) => Math.max(most, Math.abs(each)), 0);

const rounded = (value: number): number => Number(value.toPrecision(4));

/**
 * `201.0`; with as many decimals as the largest of `beside`, formatted with four digits, has. An overflow is not
 * printed as a number.
 */
export function digits(value: number, beside: readonly number[] = []): string {
  if (!Number.isFinite(value)) return '–';
  const largest = rounded(largestOf([value, ...beside.filter(Number.isFinite)]));
  if (largest === 0) return '0';
  if (largest < 1e-4 || largest >= 1e7) return value === 0 ? '0' : value.toExponential(3);
  const text = value.toFixed(Math.max(0, 3 - Math.floor(Math.log10(largest))));
  return Number(text) === 0 ? '0' : text;
}

/** `+12.00`, `-3.100`, `0`. */
function signed(value: number, beside: readonly number[]): string {
  const text = digits(value, beside);
  return Number(text) > 0 ? `+${text}` : text;
}

/** All intervals have this form: `1.071 … 1.099`. */
export const range = ([low, high]: readonly [number, number]): string =>
  `${digits(low, [high])} … ${digits(high, [low])}`;

const answers = new Map([
  [1, 'yes'],
  [0, 'no'],
]);

/** The answer of a metric that is true or false; null for others, and for a mean over rounds that differ. */
const answer = (value: number, unit: string | null): string | null =>
  unit === 'boolean' ? (answers.get(value) ?? null) : null;

/** `201.0 ms`; for a boolean `yes` or `no`. */
export function quantity(value: number, unit: string): string {
  const said = answer(value, unit);
  if (said !== null) return said;
  const { unit: shown, size } = fitting([value], unit);
  return `${digits(value / size)} ${shown}`;
}

export interface Estimate {
  value: number;
  ci95: readonly [number, number] | null;
}

export interface EstimateText {
  /** The value with its unit. */
  value: string;
  /** The interval in the value's unit and with its decimals. */
  interval: string | null;
  unit: string;
}

/** A value with its interval; `unit` is null for a ratio. A difference is signed. */
export function estimateText({ value, ci95 }: Estimate, unit: string | null, isDifference = false): EstimateText {
  const all = [value, ...(ci95 ?? [])];
  const scale = unit === null ? { unit: '', size: 1 } : fitting(all, unit);
  const beside = all.map((each) => each / scale.size);
  const text = (each: number) => (isDifference ? signed : digits)(each / scale.size, beside);
  return {
    value:
      answer(value, isDifference ? null : unit) ??
      (unit === null ? `× ${text(value)}` : `${text(value)} ${scale.unit}`),
    interval: ci95 && `${text(ci95[0])} … ${text(ci95[1])}`,
    unit: scale.unit,
  };
}

/** `201.0 ms (199.8 … 202.2)`. */
export const inOneLine = ({ value, interval }: EstimateText): string =>
  interval === null ? value : `${value} (${interval})`;

/** `1 round`, `2 rounds`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

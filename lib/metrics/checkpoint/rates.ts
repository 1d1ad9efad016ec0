/** Rates of checkpoints and restores: seconds against the bytes that a target holds, and the line through them. */
import * as v from 'valibot';
import { median } from '../../stats/median.js';
import { type Point, slope } from '../../stats/slope.js';
import { count, interval, quantity, rows, text } from '../core/details.js';
import { invalidBy, type LineChart, type Measured, withoutNumber } from '../core/metric.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import type { Check, MetricResult } from '../../results/document.js';
import { beyondLink, describedLink, linkDetails, noFasterThan } from '../pcie/link.js';
import type { HeldTarget, HeldTargets } from './held-targets.js';
import type { Turn } from './target-study.js';

const bytes = count('Bytes that each target held');
export const MS_PER_S = 1_000;
const BYTES_PER_GB = 1e9;

export const rateDetails = {
  sizes: rows(
    v.union([
      v.strictObject({
        bytes,
        targets: count('Targets of that size'),
        seconds: quantity('s', 'Median time of the first turn of each target'),
        againSeconds: quantity('s', 'Median time of the second turn'),
      }),
      v.strictObject({ bytes, leftOut: text('Why no target of that size was measured') }),
    ]),
    'A row per size',
  ),
  fixedSeconds: quantity('s', 'The line at 0 bytes: what each call costs beside the bytes'),
  gbPerSecond: quantity('GB/s', 'The slope of the line, as a rate'),
  ci95: interval('GB/s', 'gbPerSecond'),
  link: linkDetails,
};

type RateDetails = v.InferOutput<v.StrictObjectSchema<typeof rateDetails, undefined>>;

const secondsOf = (targets: readonly HeldTarget[], turn: number, msOf: (turn: Turn) => number): number =>
  median(targets.flatMap(({ turns }) => turns.slice(turn, turn + 1).map((each) => msOf(each) / MS_PER_S))).value;

/** The rows of the table, in the order of the sizes. */
function sizeRows({ targets, leftOut }: HeldTargets, msOf: (turn: Turn) => number) {
  const sizes = [...new Set(targets.map((target) => target.bytes))];
  const measured = sizes.map((bytes) => {
    const own = targets.filter((target) => target.bytes === bytes);
    return { bytes, targets: own.length, seconds: secondsOf(own, 0, msOf), againSeconds: secondsOf(own, 1, msOf) };
  });
  return [...measured, ...leftOut].sort((a, b) => a.bytes - b.bytes);
}

/** Null without two sizes. */
function rateThrough(targets: readonly HeldTarget[], msOf: (turn: Turn) => number) {
  const points = targets.flatMap(({ bytes, turns }) =>
    turns.map((turn): Point => [bytes / BYTES_PER_GB, msOf(turn) / MS_PER_S]),
  );
  const line = slope(points);
  if (line === null || line.value <= 0) return null;
  const [low = null, high = null] = line.ci95 ?? [];
  const middle = (index: 0 | 1) => points.reduce((sum, point) => sum + point[index], 0) / points.length;
  return {
    value: 1 / line.value,
    // A line that may not rise has no highest rate.
    ci95: low !== null && high !== null && low > 0 ? ([1 / high, 1 / low] as [number, number]) : null,
    fixedSeconds: middle(1) - line.value * middle(0),
  };
}

const storedRow = v.looseObject({ bytes: v.number(), seconds: v.number(), againSeconds: v.number() });

/** Bytes by the whole time of each turn that moves any: what is fixed makes it less than the link's rate. */
const rateRows = (sizes: unknown): { name: string; gbs: number }[] =>
  (Array.isArray(sizes) ? sizes : []).flatMap((row: unknown) => {
    const { success, output } = v.safeParse(storedRow, row);
    if (!success || output.bytes <= 0) return [];
    const { bytes, seconds, againSeconds } = output;
    return [seconds, againSeconds].map((time) => ({
      name: formatBytes(bytes),
      gbs: bytes / BYTES_PER_GB / time,
    }));
  });

/** Says why a stored rate cannot be: it or one of its rows is above the link, or a row took no time. */
export function impossibleRate({ value, details }: Pick<MetricResult, 'value' | 'details'>): string | null {
  const rows = rateRows(details.sizes);
  const instant = rows.find(({ gbs }) => !(gbs > 0 && gbs < Infinity));
  if (instant) return `${instant.name} in no time`;
  const all = [value, ...rows.map(({ gbs }) => gbs)];
  return all.map((gbs) => beyondLink({ value: gbs, details })).find((why) => why !== null) ?? null;
}

/** Both axes are logarithmic: without fixed costs the time would be parallel to that of the link. */
export const rateChart = (what: string): LineChart => ({
  title: `Time of a ${what} against bytes`,
  axes: { x: 'bytes held', y: 's' },
  scales: { x: 'bytes', y: 'log' },
  rows: 'sizes',
  point: { x: 'bytes', y: 'seconds' },
  rate: { name: 'at the rate of the link', unit: 'GB/s', object: 'link', field: 'ceilingGbs', perUnit: BYTES_PER_GB },
});

/** The rate of one phase of all turns. `own`: the phase's own checks. */
export function measuredRate(
  what: 'checkpoint' | 'restore',
  held: HeldTargets,
  msOf: (turn: Turn) => number,
  own: readonly Check[],
): Measured<RateDetails> {
  const rate = rateThrough(held.targets, msOf);
  if (rate === null) return withoutNumber('invalid', `the time of a ${what} does not rise with the bytes`);
  const { value, ci95, fixedSeconds } = rate;
  const sizes = sizeRows(held, msOf);
  const checks = [...own, noFasterThan(held.link, [{ name: what, gbs: value }, ...rateRows(sizes)])];
  return {
    ...invalidBy(checks),
    value,
    ci95,
    processes: held.targets.length,
    ciScope: 'between-processes',
    headline: null,
    details: { sizes, fixedSeconds, gbPerSecond: value, ci95, link: describedLink(held.link) },
    checks,
  };
}

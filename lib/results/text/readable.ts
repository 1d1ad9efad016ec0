/** A view for people: every metric in a unit that fits its values. Formats for programs use the original view. */
import type { Effect, MetricResult, Stats } from '../document.js';
import { fitting, type Scale } from './quantity.js';
import { type Cell, type Row, rowsOf, type Spread, type Tail, type View } from '../view.js';

export function readable(view: View): View {
  const rows = new Map(rowsOf(view).map((row) => [row.id, row]));
  return {
    ...view,
    categories: view.categories.map(({ name, rows: own }) => ({ name, rows: own.map(scaledRow) })),
    effects: view.effects.map((effect) => {
      const row = rows.get(effect.metric);
      return row ? scaledEffect(effect, scaleOf(row)) : effect;
    }),
  };
}

/** Converts a result to a unit that fits. Drops the samples, which no report for people shows. */
export const readableResult = (result: MetricResult): MetricResult =>
  scaledResult(result, fitting(result.value === null ? [] : [result.value], result.unit));

/** Values smaller than the largest by more than this factor do not influence the unit. */
const RANGE = 1e4;

/**
 * The unit of the smallest value, so that it keeps its digits, unless the largest would need more than four before the
 * point.
 */
function scaleOf({ cells, unit }: Row): Scale {
  const sizes = cells.flatMap(({ value }) => (value === null || value === 0 ? [] : [Math.abs(value)]));
  const largest = Math.max(0, ...sizes);
  const smallest = Math.min(...sizes.filter((size) => size >= largest / RANGE));
  const scale = fitting(sizes.length === 0 ? [] : [smallest], unit);
  return largest / scale.size < RANGE ? scale : fitting([largest], unit);
}

function scaledRow(row: Row): Row {
  const scale = scaleOf(row);
  if (scale.size === 1) return row;
  return { ...row, unit: scale.unit, cells: row.cells.map((cell) => scaledCell(cell, scale)) };
}

type Interval = [number, number] | null;

const one = <Value extends number | null>(value: Value, { size }: Scale): Value =>
  (value === null ? null : value / size) as Value;

const ends = (ci95: Interval, scale: Scale): Interval => ci95 && [one(ci95[0], scale), one(ci95[1], scale)];

const scaledCell = (cell: Cell, scale: Scale): Cell => ({
  ...cell,
  results: cell.results.map((result) => scaledResult(result, scale)),
  values: cell.values.map((value) => one(value, scale)),
  value: one(cell.value, scale),
  ci95: ends(cell.ci95, scale),
  tail: cell.tail && scaledTail(cell.tail, scale),
  spread: cell.spread && scaledSpread(cell.spread, scale),
  effect: cell.effect && scaledEffect(cell.effect, scale),
});

const scaledTail = (tail: Tail, scale: Scale): Tail => ({
  ...tail,
  p50: one(tail.p50, scale),
  p95: one(tail.p95, scale),
  p99: one(tail.p99, scale),
});

const scaledSpread = (spread: Spread, scale: Scale): Spread => ({
  ...spread,
  between: one(spread.between, scale),
  within: one(spread.within, scale),
});

/** A ratio has no unit. */
function scaledEffect(effect: Effect, scale: Scale): Effect {
  if (scale.size === 1) return effect;
  return {
    ...effect,
    difference: one(effect.difference, scale),
    differenceCi90: ends(effect.differenceCi90, scale),
    differenceCi95: ends(effect.differenceCi95, scale),
    betweenRounds: effect.ratio === null ? ends(effect.betweenRounds, scale) : effect.betweenRounds,
  };
}

function scaledResult({ samples: _, ...result }: MetricResult, scale: Scale): MetricResult {
  if (scale.size === 1) return result;
  const { unit } = scale;
  if (result.status !== 'ok') return { ...result, unit };
  return {
    ...result,
    unit,
    value: one(result.value, scale),
    ci95: ends(result.ci95, scale),
    stats: result.stats && scaledStats(result.stats, scale),
    ...(result.blocks && { blocks: result.blocks.map((block) => one(block, scale)) }),
  };
}

const scaledStats = ({ count, effectiveSamples, cv, outliers, ...stats }: Stats, scale: Scale): Stats => ({
  ...(Object.fromEntries(Object.entries(stats).map(([name, value]) => [name, one(value, scale)])) as typeof stats),
  count,
  ...(effectiveSamples !== undefined && { effectiveSamples }),
  cv,
  outliers,
});

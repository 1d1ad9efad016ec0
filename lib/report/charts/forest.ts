/** All ratios on one logarithmic axis, in drawings short enough for a page. Above 1 is worse. */
import type { Effect } from '../../results/document.js';
import { effectText } from '../../results/effect-text.js';
import type { Row, View } from '../../results/view.js';
import { capped, type CustomSeriesRenderItem, line, textAt } from './marks.js';
import { factors } from './scale.js';
import type { ChartOption } from './echarts.js';
import type { Drawing } from './svg.js';
import { fitted, fittedNames, widest } from './text.js';
import { axisLook, fixed, MUTED, still, TEXT } from './theme.js';
import { verdictColour, verdictMark } from './verdict-marks.js';

const ROW = 22;
const PLOT = { width: 318, top: 6, bottom: 26 };
const GAP = 12;
const LONGEST_METRIC = 330;
const LONGEST_SYSTEM = 190;
/** Space at both ends of the plot for arrows to values beyond it. */
const GUTTER = 18;
/** Distance from an end of the axis to the tip of an arrow: longer than a mark at the end. */
const REACH = 14;
const HEAD = 5;
const ROWS_PER_DRAWING = 32;
const MOST_ROWS = 256;
/** Larger ratios become arrows: a ratio of a thousand would squeeze all others onto the line at 1. */
const FARTHEST = 16;
const NEAREST = 1.02;

/** An effect that can be drawn on the axis. */
export interface Ratio {
  row: Row;
  effect: Effect;
  ratio: number;
  /** Null with one round. */
  ci95: [number, number] | null;
}

export interface Forest {
  drawings: { category: string; drawing: Drawing }[];
  /** How many ratios are left out of the drawings: those nearest to 1. */
  leftOut: number;
  /** Whether any value is beyond the axis. */
  goesBeyond: boolean;
}

/** Effects without a ratio, or without a logarithm of it, are listed in a table. */
export function ratiosOf(view: View): { category: string; ratios: Ratio[] }[] {
  const ofCategory = (rows: readonly Row[]) =>
    rows.flatMap((row) =>
      row.cells.flatMap(({ effect }) => {
        if (!effect?.ratio) return [];
        const { ratio, ratioCi95: ci95 } = effect;
        return ratio > 0 && (!ci95 || (ci95[0] > 0 && ci95[1] > 0)) ? [{ row, effect, ratio, ci95 }] : [];
      }),
    );
  return view.categories.map(({ name, rows }) => ({ category: name, ratios: ofCategory(rows) }));
}

const distance = ({ ratio }: Ratio): number => Math.abs(Math.log(ratio));

function bounds(ratios: readonly Ratio[]): [number, number] {
  const within = (value: number) => Math.min(Math.max(value, 1 / FARTHEST), FARTHEST);
  const all = ratios.flatMap(({ ratio, ci95 }) => [ratio, ...(ci95 ?? [])]).map(within);
  return [Math.min(1 / NEAREST, ...all), Math.max(NEAREST, ...all)];
}

function axis([low, high]: [number, number]): NonNullable<ChartOption['xAxis']> {
  const gutter = (Math.log(high / low) * GUTTER) / (PLOT.width - 2 * GUTTER);
  const ticks = factors(low, high);
  const customValues = ticks.map(Math.log);
  return {
    type: 'value',
    ...axisLook,
    axisLine: { show: false },
    min: Math.log(low) - gutter,
    max: Math.log(high) + gutter,
    axisTick: { show: false, customValues },
    axisLabel: {
      ...axisLook.axisLabel,
      customValues,
      hideOverlap: true,
      formatter: (place: number) => `× ${Number(Math.exp(place).toPrecision(5))}`,
    },
  };
}

const isWithin = (value: number, [low, high]: [number, number]): boolean => value >= low && value <= high;

/**
 * An interval with caps at its ends. An arrow replaces an end beyond the axis; a double arrow marks a ratio beyond it.
 */
function interval({ ratio, ci95, effect }: Ratio, y: number, at: (value: number) => number, axis: [number, number]) {
  const colour = verdictColour(effect.verdict);
  const [low, high] = axis;
  const [from, to] = ci95 ?? [ratio, ratio];
  if (!ci95 && isWithin(ratio, axis)) return [];
  const [left, right] = [at(low), at(high)];
  const x1 = from < low ? left - REACH : from > high ? right : at(from);
  const x2 = to > high ? right + REACH : to < low ? left : at(to);
  const caps = [
    [from, x1],
    [to, x2],
  ].flatMap(([value = 0, x = 0]) => (isWithin(value, axis) ? [x] : []));
  const head = (tip: number, way: 1 | -1) =>
    line(
      [
        [tip - way * HEAD, y - HEAD],
        [tip, y],
        [tip - way * HEAD, y + HEAD],
      ],
      colour,
    );
  const heads = (tip: number, way: 1 | -1, isRatio: boolean) => [
    head(tip, way),
    ...(isRatio ? [head(tip - way * HEAD, way)] : []),
  ];
  return [
    line(capped(x1, x2, y, caps), colour),
    ...(Math.min(from, ratio) < low ? heads(left - REACH, -1, ratio < low) : []),
    ...(Math.max(to, ratio) > high ? heads(right + REACH, 1, ratio > high) : []),
  ];
}

const ratioText = ({ row, effect, ci95 }: Ratio): string =>
  `${effectText(effect, row.unit)}${ci95 ? '' : ' (no interval)'}`;

const described = (ratio: Ratio): string => {
  const { row, effect } = ratio;
  const pair = `${effect.system} against ${effect.baseline}`;
  return `${row.id} ${row.name}, ${pair}: ${ratioText(ratio)}, ${effect.verdict}`;
};

/** Shared by all drawings: the axis, and columns as wide as their contents. */
interface Layout {
  ends: [number, number];
  system: (name: string) => string;
  left: number;
  right: number;
}

const metricText = ({ row }: Ratio): string =>
  fitted(`${row.id} ${row.name}`, LONGEST_METRIC, { bold: true, head: 2 / 3 });

function layoutOf(ratios: readonly Ratio[]): Layout {
  const names = [...new Set(ratios.map(({ effect }) => effect.system))];
  const shown = fittedNames(names, LONGEST_SYSTEM);
  const verdicts = ratios.map(({ effect }) => effect.verdict);
  return {
    ends: bounds(ratios),
    system: (name) => shown[names.indexOf(name)] ?? name,
    left: widest(ratios.map(metricText), true) + GAP + widest(shown) + GAP,
    right: GAP + widest(ratios.map(ratioText)) + GAP + widest(verdicts, true),
  };
}

function rows(ratios: readonly Ratio[], { ends, system, left, right }: Layout): CustomSeriesRenderItem {
  return ({ dataIndex }, api) => {
    const found = ratios[dataIndex] as Ratio;
    const { row, effect, ratio } = found;
    const { verdict } = effect;
    const at = (value: number) => api.coord([Math.log(value), 0])[0] as number;
    const y = api.coord([0, dataIndex])[1] as number;
    const isFirst = ratios[dataIndex - 1]?.row !== row;
    const beside = left + PLOT.width;
    return {
      type: 'group',
      children: [
        ...(isFirst ? [textAt(0, y, metricText(found), { bold: true })] : []),
        textAt(left - GAP, y, system(effect.system), { align: 'right' }),
        ...interval(found, y, at, ends),
        ...(isWithin(ratio, ends) ? [verdictMark(verdict, [at(ratio), y])] : []),
        textAt(beside + GAP, y, ratioText(found), { colour: MUTED }),
        textAt(beside + right, y, verdict, { align: 'right', colour: verdictColour(verdict), bold: true }),
      ],
    };
  };
}

const lineAtOne =
  (height: number): CustomSeriesRenderItem =>
  (_, api) => {
    const [x = 0] = api.coord([0, 0]);
    return line(
      [
        [x, PLOT.top],
        [x, height - PLOT.bottom],
      ],
      TEXT,
      1,
    );
  };

function drawing(category: string, ratios: readonly Ratio[], layout: Layout): Drawing {
  const { ends, left, right } = layout;
  const height = ROW * ratios.length + PLOT.top + PLOT.bottom;
  const said = ratios.map(described);
  return {
    size: { width: Math.ceil(left + PLOT.width + right), height },
    label: `Ratios of ${category}. ${said.join('; ')}.`,
    tips: [[], said],
    option: {
      grid: { ...fixed, ...PLOT, left },
      xAxis: axis(ends),
      yAxis: {
        type: 'category',
        inverse: true,
        data: ratios.map((_, i) => i),
        axisLine: { show: false },
        axisTick: { show: false },
        axisLabel: { show: false },
        splitLine: { show: false },
      },
      series: [
        { type: 'custom', ...still, data: [[0, 0]], renderItem: lineAtOne(height) },
        { type: 'custom', ...still, data: ratios.map((_, i) => [0, i]), renderItem: rows(ratios, layout) },
      ],
    },
  };
}

export function forestOf(view: View): Forest {
  const all = ratiosOf(view);
  const flat = all.flatMap(({ ratios }) => ratios);
  const shown = new Set([...flat].sort((a, b) => distance(b) - distance(a)).slice(0, MOST_ROWS));
  const layout = layoutOf([...shown]);
  const drawings = all.flatMap(({ category, ratios }) => {
    const kept = ratios.filter((ratio) => shown.has(ratio));
    const parts = Array.from({ length: Math.ceil(kept.length / ROWS_PER_DRAWING) }, (_, i) =>
      kept.slice(i * ROWS_PER_DRAWING, (i + 1) * ROWS_PER_DRAWING),
    );
    return parts.map((part) => ({ category, drawing: drawing(category, part, layout) }));
  });
  const goesBeyond = [...shown].some(({ ratio, ci95 }) =>
    [ratio, ...(ci95 ?? [])].some((value) => !isWithin(value, layout.ends)),
  );
  return { drawings, leftOut: flat.length - shown.size, goesBeyond };
}

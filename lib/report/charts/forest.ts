/** All ratios on one logarithmic axis, in drawings short enough for a page. Above 1 is worse. */
import type { Effect } from '../../document.js';
import { effectText } from '../effect-text.js';
import { short } from '../markup.js';
import { number } from '../plain.js';
import type { Row, View } from '../view.js';
import { type CustomSeriesRenderItem, line, type Place, textAt, whisker } from './marks.js';
import { factors } from './scale.js';
import type { ChartOption } from './echarts.js';
import type { Drawing } from './svg.js';
import { axisLook, fixed, MUTED, still, TEXT } from './theme.js';
import { verdictColour, verdictMark } from './verdict-marks.js';

const ROW = 22;
const PLOT = { left: 350, right: 272, top: 6, bottom: 26 };
const WIDTH = 940;
const ROWS_PER_DRAWING = 32;
const MOST_ROWS = 256;
/** Beyond, an arrow: one ratio of a thousand would leave all the others on the line at 1. */
const FARTHEST = 16;
const NEAREST = 1.02;

/** An effect that has a place on the axis. */
export interface Ratio {
  row: Row;
  effect: Effect;
  ratio: number;
  /** Null of a single round. */
  ci95: [number, number] | null;
}

export interface Forest {
  drawings: { category: string; drawing: Drawing }[];
  /** Ratios that the drawings leave out: those nearest to 1. */
  leftOut: number;
}

/** Those without a ratio, or with one that no logarithm has, stand in a table. */
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

/** With air at both ends. */
function axis([low, high]: [number, number]): NonNullable<ChartOption['xAxis']> {
  const air = Math.log(high / low) / 40;
  const ticks = factors(low, high);
  const customValues = ticks.map(Math.log);
  return {
    type: 'value',
    ...axisLook,
    axisLine: { show: false },
    min: Math.log(low) - air,
    max: Math.log(high) + air,
    axisTick: { show: false, customValues },
    axisLabel: {
      ...axisLook.axisLabel,
      customValues,
      hideOverlap: true,
      formatter: (place: number) => `× ${Number(Math.exp(place).toPrecision(5))}`,
    },
  };
}

/** A whisker, with an arrow where it goes on beyond the axis. */
function interval({ ci95, effect }: Ratio, y: number, at: (value: number) => number, [low, high]: [number, number]) {
  if (!ci95) return [];
  const colour = verdictColour(effect.verdict);
  const [from, to] = [Math.max(ci95[0], low), Math.min(ci95[1], high)];
  const [x1, x2] = [at(Math.min(from, high)), at(Math.max(to, low))];
  const head = (x: number, way: number): Place[] => [
    [x - way * 4, y - 4],
    [x, y],
    [x - way * 4, y + 4],
  ];
  return [
    whisker(x1, x2, y, colour),
    ...(ci95[0] < low ? [line(head(x1 - 4, -1), colour)] : []),
    ...(ci95[1] > high ? [line(head(x2 + 4, 1), colour)] : []),
  ];
}

const ratioText = ({ row, effect, ratio, ci95 }: Ratio): string =>
  ci95 ? effectText(effect, row.unit) : `× ${number(ratio)} (no interval)`;

const described = (ratio: Ratio): string => {
  const { row, effect } = ratio;
  const pair = `${effect.system} against ${effect.baseline}`;
  return `${row.id} ${row.name}, ${pair}: ${ratioText(ratio)}, ${effect.verdict}`;
};

const renderer =
  (ratios: readonly Ratio[], [low, high]: [number, number], height: number): CustomSeriesRenderItem =>
  ({ dataIndex }, api) => {
    const found = ratios[dataIndex];
    const at = (value: number) => api.coord([Math.log(value), 0])[0] as number;
    if (!found)
      return line(
        [
          [at(1), PLOT.top],
          [at(1), height - PLOT.bottom],
        ],
        TEXT,
        1,
      );
    const { row, effect, ratio } = found;
    const y = api.coord([0, dataIndex])[1] as number;
    const first = ratios[dataIndex - 1]?.row !== row;
    const place = at(Math.min(Math.max(ratio, low), high));
    return {
      type: 'group',
      children: [
        ...(first ? [textAt(0, y, short(`${row.id} ${row.name}`, 34), { bold: true })] : []),
        textAt(PLOT.left - 12, y, short(effect.system, 14), { align: 'right' }),
        ...interval(found, y, at, [low, high]),
        verdictMark(effect.verdict, [place, y]),
        textAt(WIDTH - PLOT.right + 12, y, ratioText(found), { colour: MUTED }),
        textAt(WIDTH, y, effect.verdict, { align: 'right', colour: verdictColour(effect.verdict), bold: true }),
      ],
    };
  };

function drawing(category: string, ratios: readonly Ratio[], ends: [number, number]): Drawing {
  const height = ROW * ratios.length + PLOT.top + PLOT.bottom;
  const said = ratios.map(described);
  return {
    size: { width: WIDTH, height },
    label: `Ratios of ${category}. ${said.join('; ')}.`,
    tips: [said],
    option: {
      grid: { ...fixed, ...PLOT },
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
        {
          type: 'custom',
          ...still,
          // One more than ratios: the line at 1.
          data: [...ratios.map((_, i) => [0, i]), [0, 0]],
          renderItem: renderer(ratios, ends, height),
        },
      ],
    },
  };
}

export function forestOf(view: View): Forest {
  const all = ratiosOf(view);
  const flat = all.flatMap(({ ratios }) => ratios);
  const shown = new Set([...flat].sort((a, b) => distance(b) - distance(a)).slice(0, MOST_ROWS));
  const ends = bounds([...shown]);
  const drawings = all.flatMap(({ category, ratios }) => {
    const kept = ratios.filter((ratio) => shown.has(ratio));
    const parts = Array.from({ length: Math.ceil(kept.length / ROWS_PER_DRAWING) }, (_, i) =>
      kept.slice(i * ROWS_PER_DRAWING, (i + 1) * ROWS_PER_DRAWING),
    );
    return parts.map((part) => ({ category, drawing: drawing(category, part, ends) }));
  });
  return { drawings, leftOut: flat.length - shown.size };
}

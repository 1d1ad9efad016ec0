/** Rows by columns, darker means more; every cell shows its number, so no colour has to be distinguished. */
import { LEVELS, NO_READING } from './heat.js';
import { type CustomSeriesRenderItem, textAt } from './marks.js';
import type { Drawing } from './svg.js';
import { asDrawn, fittedNames, widest } from './text.js';
import { axisLook, fixed, MUTED, still, SURFACE, TEXT } from './theme.js';

const ROW = 30;
const COLUMN = 84;
const GAP = 10;
const TOP = 26;
const LONGEST_NAME = 180;
const MOST = 24;

/** Text colours that are readable on each level in both themes. */
const inks = [TEXT, TEXT, TEXT, 'var(--heat-ink)', SURFACE, SURFACE];

export interface Cell {
  /** Decides the colour; null: nothing is drawn but a line. */
  percent: number | null;
  /** In the cell. */
  text: string;
  /** In the tip and the description. */
  said: string;
}

export interface CellMap {
  rows: readonly string[];
  columns: readonly string[];
  /** By row, then by column. */
  cells: readonly (readonly Cell[])[];
  /** What the map shows. */
  label: string;
}

const levelOf = (percent: number): number => {
  const level = LEVELS.findIndex((most) => percent <= most);
  return level < 0 ? LEVELS.length - 1 : level;
};

interface Shown extends Cell {
  row: number;
  column: number;
}

const box =
  (cells: readonly Shown[]): CustomSeriesRenderItem =>
  ({ dataIndex }, api) => {
    const { row, column, percent } = cells[dataIndex] as Shown;
    const [x = 0, y = 0] = api.coord([column, row]);
    const level = percent === null ? null : levelOf(percent);
    const height = level === null ? NO_READING.height : ROW - 2;
    const width = level === null ? COLUMN / 3 : COLUMN - 2;
    return {
      type: 'rect',
      shape: { x: x - width / 2, y: y - height / 2, width, height },
      style: { fill: level === null ? NO_READING.fill : `var(--heat-${level})` },
    };
  };

const inside =
  (cells: readonly Shown[]): CustomSeriesRenderItem =>
  ({ dataIndex }, api) => {
    const { row, column, percent, text } = cells[dataIndex] as Shown;
    const [x = 0, y = 0] = api.coord([column, row]);
    if (percent === null) return { type: 'group', children: [] };
    return textAt(x, y, text, { align: 'center', colour: inks[levelOf(percent)] ?? TEXT });
  };

const category = (names: readonly string[]) => ({
  type: 'category' as const,
  ...axisLook,
  axisLine: { show: false },
  splitLine: { show: false },
  // Names are never passed to ECharts as data: it would expand templates and merge duplicates.
  data: names.map((_, i) => i),
  axisLabel: { ...axisLook.axisLabel, interval: 0, formatter: (_: string, i: number) => asDrawn(names[i] ?? '') },
});

/** Null for a map with too many rows or columns for a drawing. */
export function cellMapDrawing({ rows, columns, cells: all, label }: CellMap): Drawing | null {
  if (rows.length > MOST || columns.length > MOST) return null;
  const cells = all.flatMap((of, row) => of.map((cell, column) => ({ ...cell, row, column })));
  const names = fittedNames(rows, LONGEST_NAME);
  const headings = fittedNames(columns, COLUMN - 6);
  const left = widest(names) + GAP;
  const width = left + COLUMN * columns.length + GAP;
  const described = cells.map(({ said }) => said);
  const own = axisLook.axisLabel;
  return {
    size: { width: Math.ceil(width), height: TOP + ROW * rows.length + GAP },
    label: `${label}. ${described.join('; ')}.`,
    tips: [described, described],
    option: {
      grid: { ...fixed, left, top: TOP, width: COLUMN * columns.length, height: ROW * rows.length },
      xAxis: { ...category(headings), position: 'top', axisLabel: { ...category(headings).axisLabel, color: MUTED } },
      yAxis: {
        ...category(names),
        inverse: true,
        axisLabel: { ...category(names).axisLabel, ...(own && { color: TEXT }) },
      },
      series: [
        { type: 'custom', ...still, data: cells.map(({ row, column }) => [column, row]), renderItem: box(cells) },
        { type: 'custom', ...still, data: cells.map(({ row, column }) => [column, row]), renderItem: inside(cells) },
      ],
    },
  };
}

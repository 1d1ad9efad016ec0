/** Draws rows by columns. Darker means more; every cell shows its number, so no colour has to be distinguished. */
import { LEVELS, NO_READING } from './heat.js';
import { categories } from './axes.js';
import type { Drawing } from './svg.js';
import { asDrawn, LINE, wrappedNames } from './text.js';
import { font, MUTED, stateless, SURFACE, TEXT } from './theme.js';

const ROW = 30;
const COLUMN = 84;
const GAP = 10;
/** Pixels between the names of two rows. */
const BETWEEN = 6;
const LONGEST_NAME = 180;
const MOST = 24;

/** Text colours that are readable on each level in both themes. */
const inks = [TEXT, TEXT, TEXT, 'var(--heat-ink)', SURFACE, SURFACE];

interface Cell {
  /** The value that decides the colour; null draws only a line. */
  percent: number | null;
  /** The text in the cell. */
  text: string;
  /** The text in the tip and in the description. */
  said: string;
}

interface CellMap {
  rows: readonly string[];
  columns: readonly string[];
  /** Cells by row, then by column. */
  cells: readonly (readonly Cell[])[];
  /** What the map shows. */
  label: string;
}

const levelOf = (percent: number): number => {
  const level = LEVELS.findIndex((most) => percent <= most);
  return level < 0 ? LEVELS.length - 1 : level;
};

/** Draws a map; null if it has too many rows or columns. */
export function cellMapDrawing({ rows, columns, cells: all, label }: CellMap): Drawing | null {
  if (rows.length > MOST || columns.length > MOST) return null;
  const cells = all.flatMap((of, row) => of.map((cell, column) => ({ ...cell, row, column })));
  const [names, titles] = [wrappedNames(rows, LONGEST_NAME), wrappedNames(columns, COLUMN - 6)];
  const described = cells.map(({ said }) => said);
  const row = Math.max(ROW, LINE * names.most + BETWEEN);
  const [width, height] = [COLUMN * columns.length, row * rows.length];
  const [left, top] = [names.width + GAP, LINE * titles.most + BETWEEN + GAP];
  return {
    size: { width: Math.ceil(left + width + GAP), height: top + height + GAP },
    label: `${label}. ${described.join('; ')}.`,
    tips: [described],
    option: {
      grid: { outerBoundsMode: 'none', left, top, width, height },
      xAxis: { ...categories(titles.texts, MUTED), position: 'top' },
      yAxis: { ...categories(names.texts), inverse: true },
      series: {
        type: 'scatter',
        ...stateless,
        symbol: 'rect',
        data: cells.map(({ row, column, percent, text }) => {
          const level = percent === null ? null : levelOf(percent);
          return {
            value: [column, row],
            symbolSize: level === null ? [COLUMN / 3, NO_READING.height] : [COLUMN - 2, row - 2],
            itemStyle: { color: level === null ? NO_READING.fill : `var(--heat-${level})` },
            label: {
              ...font,
              show: level !== null,
              formatter: () => asDrawn(text),
              position: 'inside',
              color: inks[level ?? 0] ?? TEXT,
            },
          };
        }),
      },
    },
  };
}

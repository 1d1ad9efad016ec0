/** Victims by aggressors, darker means a larger loss; every cell shows its number, so no colour has to be distinguished. */
import { number } from '../../results/plain.js';
import type { InterferenceMap, Pair } from '../isolation/interference.js';
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

const levelOf = (percent: number): number => {
  const level = LEVELS.findIndex((most) => percent <= most);
  return level < 0 ? LEVELS.length - 1 : level;
};

const said = (pair: Pair | null): string => {
  if (pair === null) return 'not tried';
  return pair.percent === null ? pair.reason || 'no value' : `${number(pair.percent)} %`;
};

interface Shown {
  row: number;
  column: number;
  pair: Pair | null;
}

const cell =
  (cells: readonly Shown[]): CustomSeriesRenderItem =>
  ({ dataIndex }, api) => {
    const { row, column, pair } = cells[dataIndex] as Shown;
    const [x = 0, y = 0] = api.coord([column, row]);
    const percent = pair?.percent ?? null;
    const level = percent === null ? null : levelOf(percent);
    const height = level === null ? NO_READING.height : ROW - 2;
    const width = level === null ? COLUMN / 3 : COLUMN - 2;
    return {
      type: 'rect',
      shape: { x: x - width / 2, y: y - height / 2, width, height },
      style: { fill: level === null ? NO_READING.fill : `var(--heat-${level})` },
    };
  };

const text =
  (cells: readonly Shown[]): CustomSeriesRenderItem =>
  ({ dataIndex }, api) => {
    const { row, column, pair } = cells[dataIndex] as Shown;
    const [x = 0, y = 0] = api.coord([column, row]);
    const percent = pair?.percent ?? null;
    if (percent === null) return { type: 'group', children: [] };
    return textAt(x, y, `${number(percent)} %`, { align: 'center', colour: inks[levelOf(percent)] ?? TEXT });
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
export function interferenceDrawing(map: InterferenceMap): Drawing | null {
  const { metric, system, victims, aggressors } = map;
  if (victims.length > MOST || aggressors.length > MOST) return null;
  const cells = map.cells.flatMap((row, at) => row.map((pair, column) => ({ row: at, column, pair })));
  const names = fittedNames(victims, LONGEST_NAME);
  const columns = fittedNames(aggressors, COLUMN - 6);
  const left = widest(names) + GAP;
  const width = left + COLUMN * aggressors.length + GAP;
  const described = cells.map(
    ({ row, column, pair }) => `${victims[row] ?? ''} beside ${aggressors[column] ?? ''}: ${said(pair)}`,
  );
  const label = axisLook.axisLabel;
  return {
    size: { width: Math.ceil(width), height: TOP + ROW * victims.length + GAP },
    label: `${metric}, ${system}: loss of each victim beside each aggressor. ${described.join('; ')}.`,
    tips: [described, described],
    option: {
      grid: { ...fixed, left, top: TOP, width: COLUMN * aggressors.length, height: ROW * victims.length },
      xAxis: { ...category(columns), position: 'top', axisLabel: { ...category(columns).axisLabel, color: MUTED } },
      yAxis: {
        ...category(names),
        inverse: true,
        axisLabel: { ...category(names).axisLabel, ...(label && { color: TEXT }) },
      },
      series: [
        { type: 'custom', ...still, data: cells.map(({ row, column }) => [column, row]), renderItem: cell(cells) },
        { type: 'custom', ...still, data: cells.map(({ row, column }) => [column, row]), renderItem: text(cells) },
      ],
    },
  };
}

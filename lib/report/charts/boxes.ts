/**
 * How a metric's values spread, by system. The process is the unit of replication, so that a box of several rounds is of
 * their values, each a point; of a single round it is of the blocks of its samples.
 */
import { number } from '../plain.js';
import { quantileSorted } from 'simple-statistics';
import type { Cell, Row } from '../view.js';
import { isDrawable, linear } from './scale.js';
import { panelHeight, type Panel, systemsAxes } from './panel.js';
import { colourOf, stateless, SURFACE } from './theme.js';

const MOST_POINTS = 40;
/** Pixels between the first and the last round's point. */
const FAN = 14;

interface Box {
  system: number;
  of: 'rounds' | 'blocks';
  /** In the order of measurement. */
  values: number[];
  /** Smallest, quartiles, largest. */
  five: [number, number, number, number, number];
}

function boxOf({ values, results }: Cell, system: number): Box[] {
  const rounds = values.filter(isDrawable);
  const blocks = results.flatMap((result) => result.blocks ?? []).filter(isDrawable);
  const of = values.length > 1 ? 'rounds' : 'blocks';
  const used = of === 'rounds' ? rounds : blocks;
  if (used.length < 2) return [];
  const sorted = [...used].sort((a, b) => a - b);
  const at = (part: number) => quantileSorted(sorted, part);
  return [{ system, of, values: used, five: [at(0), at(0.25), at(0.5), at(0.75), at(1)] }];
}

/** Which boxes are of what; a chart may hold both where rounds failed. */
export function boxKinds(row: Row): Set<Box['of']> {
  return new Set(row.cells.flatMap(boxOf).map(({ of }) => of));
}

function described({ of, values, five: [least, q1, middle, q3, most] }: Box, name: string, unit: string): string {
  const range = `${number(least)} to ${number(most)}`;
  const quartiles = `quartiles ${number(q1)} to ${number(q3)}`;
  return `${name}: median ${number(middle)} ${unit}, ${quartiles}, all ${range}, of ${values.length} ${of}`;
}

interface RoundPoint {
  system: number;
  value: number;
  /** Pixels down: rounds fan out from the top, so that a drift shows. */
  down: number;
  tip: string;
}

function pointsOf({ system, values, of }: Box, { cells, unit }: Row): RoundPoint[] {
  if (of === 'blocks') return [];
  const name = cells[system]?.system ?? '';
  const shown = values.slice(0, MOST_POINTS);
  return shown.map((value, i) => ({
    system,
    value,
    down: FAN * (i / (shown.length - 1) - 0.5),
    tip: `${name}, round ${i + 1}: ${number(value)} ${unit}`,
  }));
}

function pointSeries(points: readonly RoundPoint[], place: (value: number) => number): Panel['series'][number] {
  return {
    type: 'scatter',
    ...stateless,
    symbolSize: 5,
    symbolOffset: (_: unknown, { dataIndex }: { dataIndex: number }) => [0, points[dataIndex]?.down ?? 0],
    itemStyle: { color: ({ dataIndex }) => colourOf(points[dataIndex]?.system ?? 0) },
    data: points.map(({ value, system }) => [place(value), system]),
  };
}

/** Null where nothing was measured twice. */
export function boxesPanel(row: Row): Panel | null {
  const boxes = row.cells.flatMap(boxOf);
  if (boxes.length === 0) return null;
  const { place, ...scale } = linear(boxes.flatMap(({ five }) => five));
  const names = row.cells.map(({ system }) => system);
  const said = boxes.map((box) => described(box, names[box.system] ?? '', row.unit));
  const points = boxes.flatMap((box) => pointsOf(box, row));
  // ECharts wants a box for every row of the axis: a row without one has an empty place.
  const bySystem = row.cells.map((_, system) => boxes.find((box) => box.system === system));
  return {
    height: panelHeight(names),
    label: `Spread in ${row.unit}: ${said.join('; ')}.`,
    tips: [
      row.cells.map((_, i) => said[boxes.findIndex(({ system }) => system === i)] ?? ''),
      points.map(({ tip }) => tip),
    ],
    axes: systemsAxes(names, { place, ...scale }, 26),
    series: [
      {
        type: 'boxplot',
        silent: true,
        emphasis: { disabled: true },
        boxWidth: [18, 18],
        data: bySystem.map((box, system) => ({
          value: box ? box.five.map(place) : [],
          itemStyle: { color: SURFACE, borderColor: colourOf(system), borderWidth: 1.5 },
        })),
      },
      pointSeries(points, place),
    ],
  };
}

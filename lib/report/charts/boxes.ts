/**
 * How a metric's values spread, by system. The process is the unit of replication, so a box over several rounds shows
 * their values, each as a point. With a single round it shows the blocks of its samples.
 */
import { digits } from '../../results/text/quantity.js';
import { quantileSorted } from 'simple-statistics';
import type { Cell, Row } from '../../results/view.js';
import { evenly } from './evenly.js';
import { isDrawable, linear } from './axes.js';
import { type Panel, rowAxes } from './panel.js';
import { colourOf, stateless, SURFACE } from './theme.js';

const MOST_POINTS = 40;
const kinds = { rounds: 'of the rounds’ values', blocks: 'of blocks of samples within one round' } as const;
/** Pixels between the first and the last round's point. */
const FAN = 14;

interface Value {
  value: number;
  /** Number of the round, from 1; blocks have none, because there is a single round. */
  round?: number;
}

interface Box {
  system: number;
  of: keyof typeof kinds;
  /** Values in the order of measurement. */
  values: Value[];
  /** Minimum, quartiles, maximum. */
  five: [number, number, number, number, number];
}

function valuesOf({ values, rounds, results }: Cell): Pick<Box, 'of' | 'values'> {
  const isDrawn = ({ value }: Value) => isDrawable(value);
  if (values.length > 1)
    return { of: 'rounds', values: values.map((value, i) => ({ value, round: rounds[i] as number })).filter(isDrawn) };
  const blocks = results.flatMap((result) => result.blocks ?? []);
  return { of: 'blocks', values: blocks.map((value) => ({ value })).filter(isDrawn) };
}

function boxOf(cell: Cell, system: number): Box[] {
  const { of, values } = valuesOf(cell);
  if (values.length < 2) return [];
  const sorted = values.map(({ value }) => value).sort((a, b) => a - b);
  const at = (part: number) => quantileSorted(sorted, part);
  return [{ system, of, values, five: [at(0), at(0.25), at(0.5), at(0.75), at(1)] }];
}

function described({ of, values, five: [least, q1, middle, q3, most] }: Box, name: string, unit: string): string {
  const range = `${digits(least)} to ${digits(most)}`;
  const quartiles = `quartiles ${digits(q1)} to ${digits(q3)}`;
  return `${name}: median ${digits(middle)} ${unit}, ${quartiles}, all ${range}, of ${values.length} ${of}`;
}

interface RoundPoint {
  system: number;
  value: number;
  /** Vertical offset in pixels: points of later rounds are lower, so that a drift shows. */
  down: number;
  tip: string;
}

function pointsOf(boxes: readonly Box[], { cells, unit }: Row): RoundPoint[] {
  const last = Math.max(...boxes.flatMap(({ values }) => values.map(({ round = 1 }) => round)));
  return boxes.flatMap(({ system, values }) =>
    evenly(values, MOST_POINTS).flatMap(({ value, round }) => {
      if (round === undefined) return [];
      const name = cells[system]?.system ?? '';
      const down = FAN * ((round - 1) / (last - 1) - 0.5);
      return [{ system, value, down, tip: `${name}, round ${round}: ${digits(value)} ${unit}` }];
    }),
  );
}

/** Explains boxes. Both kinds can appear together if rounds failed. */
function noteOf(boxes: readonly Box[]): string {
  const used = [...new Set(boxes.map(({ of }) => kinds[of]))].join(', or ');
  const isThinned = boxes.some(({ of, values }) => of === 'rounds' && values.length > MOST_POINTS);
  return `Boxes: ${used}${isThinned ? `, of which ${MOST_POINTS} per system are drawn as points` : ''}.`;
}

function pointSeries(points: readonly RoundPoint[]): Panel['series'][number] {
  return {
    type: 'scatter',
    ...stateless,
    symbolSize: 5,
    symbolOffset: (_: unknown, { dataIndex }: { dataIndex: number }) => [0, points[dataIndex]?.down ?? 0],
    itemStyle: { color: ({ dataIndex }) => colourOf(points[dataIndex]?.system ?? 0) },
    data: points.map(({ value, system }) => [value, system]),
  };
}

/** Draws a metric's spread; null if nothing was measured twice. */
export function boxesPanel(row: Row): Panel | null {
  const boxes = row.cells.flatMap(boxOf);
  if (boxes.length === 0) return null;
  const names = row.cells.map(({ system }) => system);
  const said = boxes.map((box) => described(box, names[box.system] ?? '', row.unit));
  const points = pointsOf(boxes, row);
  // ECharts needs a box for every row of the axis, so a row without data gets an empty one.
  const bySystem = row.cells.map((_, system) => boxes.find((box) => box.system === system));
  return {
    label: `Spread in ${row.unit}: ${said.join('; ')}.`,
    tips: [
      row.cells.map((_, i) => said[boxes.findIndex(({ system }) => system === i)] ?? ''),
      points.map(({ tip }) => tip),
    ],
    ...rowAxes(names, [], { xAxis: linear(4, true) }),
    note: noteOf(boxes),
    series: [
      {
        type: 'boxplot',
        silent: true,
        emphasis: { disabled: true },
        boxWidth: [18, 18],
        data: bySystem.map((box, system) => ({
          value: box?.five ?? [],
          itemStyle: { color: SURFACE, borderColor: colourOf(system), borderWidth: 1.5 },
        })),
      },
      pointSeries(points),
    ],
  };
}

/** Every line chart of a report, one entry each. Details are whatever a file holds: a row that does not fit is no point. */
import * as v from 'valibot';
import { medianOf, type View } from '../view.js';
import type { Lines, Point, Series } from './lines.js';

interface LineChart extends Omit<Lines, 'series'> {
  /** Whose details the points are of; the chart stands beside it. */
  metric: string;
  series: (view: View) => Series[];
}

const finite = v.pipe(v.number(), v.finite());
const MOST_ROWS = 1_000;

interface Rows<Schema extends v.GenericSchema> {
  /** The array in the metric's details. */
  rows: string;
  row: Schema;
  point: (row: v.InferOutput<Schema>) => Point;
}

function pointsIn<Schema extends v.GenericSchema>(details: unknown, { rows, row, point }: Rows<Schema>): Point[] {
  const list = v.safeParse(v.object({ [rows]: v.array(v.unknown()) }), details);
  if (!list.success) return [];
  return (list.output[rows] ?? []).slice(0, MOST_ROWS).flatMap((one) => {
    const parsed = v.safeParse(row, one);
    return parsed.success ? [point(parsed.output)] : [];
  });
}

/** At every x the median of the rounds. */
function overRounds(points: readonly Point[]): Point[] {
  const byX = new Map<number, number[]>();
  for (const [x, y] of points) byX.set(x, [...(byX.get(x) ?? []), y]);
  return [...byX].map(([x, ys]): Point => [x, medianOf(ys) ?? 0]);
}

/** One line a system. */
const ofMetric =
  <Schema extends v.GenericSchema>(metric: string, rows: Rows<Schema>) =>
  ({ categories }: View): Series[] =>
    categories
      .flatMap((category) => category.rows)
      .filter(({ id }) => id === metric)
      .flatMap(({ cells }) =>
        cells.map(({ system, results }, look) => {
          const measured = results.filter(({ status }) => status === 'ok');
          return { name: system, look, points: overRounds(measured.flatMap(({ details }) => pointsIn(details, rows))) };
        }),
      );

const contention = (operation: string) =>
  ofMetric('OH-006', {
    rows: 'rows',
    row: v.object({
      operation: v.literal(operation),
      topology: v.literal('shared'),
      processes: finite,
      p50Us: finite,
    }),
    point: ({ processes, p50Us }) => [processes, p50Us],
  });

export const lineCharts: LineChart[] = [
  {
    metric: 'OH-006',
    title: 'Allocation and free against processes',
    x: 'processes at once',
    y: 'us, median',
    series: contention('allocFree'),
  },
  {
    metric: 'OH-006',
    title: 'Asking for free memory against processes',
    x: 'processes at once',
    y: 'us, median',
    series: contention('memGetInfo'),
  },
  {
    metric: 'OH-006',
    title: 'Launch against processes',
    x: 'processes at once',
    y: 'us, median',
    series: contention('launch'),
  },
  {
    metric: 'OH-007',
    title: 'Allocation latency against live allocations',
    x: 'live blocks, without the first',
    y: 'ns, an allocation and its free',
    series: ofMetric('OH-007', {
      rows: 'cells',
      // Alone, a block takes another path through the driver, and is no point of the line.
      row: v.object({ live: v.pipe(finite, v.minValue(1)), pairNs: finite }),
      point: ({ live, pairNs }) => [live, pairNs],
    }),
  },
  {
    // Not measured yet: what its details will hold.
    metric: 'LLM-003',
    title: 'Throughput against batch size',
    x: 'sequences in a batch',
    y: 'tokens a second',
    series: ofMetric('LLM-003', {
      rows: 'batches',
      row: v.object({ batch: finite, tokensPerSecond: finite }),
      point: ({ batch, tokensPerSecond }) => [batch, tokensPerSecond],
    }),
  },
  {
    metric: 'START-006',
    title: 'Time to the first result against processes',
    x: 'processes started at once',
    y: 'ms, mean',
    series: ofMetric('START-006', {
      rows: 'starts',
      row: v.object({ processes: finite, meanMs: finite }),
      point: ({ processes, meanMs }) => [processes, meanMs],
    }),
  },
];

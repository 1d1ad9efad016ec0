/**
 * How much of the card a system had while a load asked for all of it: one bar per time slot, with its limit as a line.
 */
import { mean } from 'simple-statistics';
import { number } from '../../results/plain.js';
import type { View } from '../../results/view.js';
import { capped, type CustomSeriesRenderItem, haloed } from './marks.js';
import { plane, SIZE } from './plane.js';
import { isDrawable, linear } from './scale.js';
import type { Drawing } from './svg.js';
import { colourOf, LEVEL_DASH, still } from './theme.js';

const MOST_CHARTS = 32;
const MOST_BARS = 120;

interface Stretch {
  /** Start in seconds of the load. */
  from: number;
  to: number;
  percent: number;
}

export interface Shares {
  system: string;
  limitPercent: number;
  /** Mean over the second half; null if there is none. */
  achievedPercent: number | null;
  /** Length of a slot in seconds. */
  stretch: number;
  stretches: Stretch[];
  drawing: Drawing;
}

type Limit = View['computeLimits'][number];

/** Averages neighbouring slots if there are more than a drawing can show. */
function stretchesOf({ binMs, sharesPercent }: Limit): Pick<Shares, 'stretch' | 'stretches'> {
  const together = Math.ceil(sharesPercent.length / MOST_BARS);
  const bin = binMs / 1_000;
  const stretches = Array.from({ length: Math.ceil(sharesPercent.length / together) || 0 }, (_, i) => {
    const bins = sharesPercent.slice(i * together, (i + 1) * together);
    const from = i * together;
    return { from: from * bin, to: (from + bins.length) * bin, percent: mean(bins) };
  });
  return { stretch: together * bin, stretches };
}

function drawingOf(limit: Limit, stretches: readonly Stretch[], look: number): Drawing {
  const { system, limitPercent, achievedPercent, binMs, sharesPercent } = limit;
  const half = (Math.floor(sharesPercent.length / 2) * binMs) / 1_000;
  const end = (sharesPercent.length * binMs) / 1_000;
  const levels = [
    { percent: limitPercent, from: 0, dash: LEVEL_DASH },
    // The value that a system is judged by, with caps that mark its time range.
    { percent: achievedPercent, from: half, dash: [], isCapped: true },
  ].filter((level): level is typeof level & { percent: number } => isDrawable(level.percent));
  const xs = linear([end], { ticks: 5, zero: true });
  const ys = linear([100, ...levels.map(({ percent }) => percent), ...stretches.map(({ percent }) => percent)], {
    ticks: 5,
    zero: true,
  });
  const bar: CustomSeriesRenderItem = ({ dataIndex }, api) => {
    const { from, to, percent } = stretches[dataIndex] as Stretch;
    const [x1 = 0, y1 = 0] = api.coord([xs.place(from), ys.place(percent)]);
    const [x2 = 0, y2 = 0] = api.coord([xs.place(to), 0]);
    // Neighbours overlap slightly, so that no background shows between them.
    const shape = { x: x1, y: Math.min(y1, y2), width: x2 - x1 + 0.1, height: Math.abs(y2 - y1) };
    return { type: 'rect', shape, style: { fill: colourOf(look) } };
  };
  const level: CustomSeriesRenderItem = ({ dataIndex }, api) => {
    const { percent, from, dash, isCapped } = levels[dataIndex] as (typeof levels)[number];
    const [x1 = 0, y = 0] = api.coord([xs.place(from), ys.place(percent)]);
    const [x2 = 0] = api.coord([xs.place(end), 0]);
    return { type: 'group', children: haloed(capped(x1, x2, y, isCapped ? [x1, x2] : []), 3, dash) };
  };
  const achieved = achievedPercent === null ? '' : `, ${number(achievedPercent)} % over the second half`;
  return {
    size: SIZE,
    label: `Share of the card over time: ${system}, under a limit of ${number(limitPercent)} %${achieved}.`,
    tips: [
      stretches.map(
        ({ from, to, percent }) => `${system}, ${number(from)} to ${number(to)} s: ${number(percent)} % of the time`,
      ),
    ],
    option: {
      ...plane({ x: 's of load', y: '% of the time' }, xs, ys),
      series: [
        { type: 'custom', ...still, data: stretches.map(({ from }) => [xs.place(from), 0]), renderItem: bar },
        { type: 'custom', ...still, data: levels.map(({ from }) => [xs.place(from), 0]), renderItem: level },
      ],
    },
  };
}

/** One drawing per system, because the bars of several would hide one another. */
export function sharesOf({ computeLimits, systems }: View): { charts: Shares[]; leftOut: string[] } {
  const checked = computeLimits.filter(({ sharesPercent, binMs }) =>
    [...sharesPercent, sharesPercent.length * binMs || null].every(isDrawable),
  );
  const charts = checked.slice(0, MOST_CHARTS).map((limit) => {
    const { system, limitPercent, achievedPercent } = limit;
    const look = systems.findIndex(({ name }) => name === system);
    const found = stretchesOf(limit);
    const drawing = drawingOf(limit, found.stretches, Math.max(look, 0));
    return { system, limitPercent, achievedPercent, ...found, drawing };
  });
  return { charts, leftOut: checked.slice(MOST_CHARTS).map(({ system }) => system) };
}

/**
 * How much of the card a system had while a load asked for all of it: one bar per time slot, with its limit as a line.
 */
import { mean } from 'simple-statistics';
import { number } from '../../results/text/plain.js';
import type { View } from '../../results/view.js';
import { isDrawable, linear } from './axes.js';
import { plane, SIZE, straight } from './lines.js';
import { boxes } from './marks.js';
import type { Drawing } from './svg.js';
import { colourOf, LEVEL_DASH, TEXT } from './theme.js';

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
  /** Mean over the second half of the load; null if there is none. */
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
  const across = (percent: number, from: number, type: 'solid' | number[]) =>
    straight(
      [
        [from, percent],
        [end, percent],
      ],
      TEXT,
      { width: 1.5, type },
    );
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
      ...plane({ x: 's of load', y: '% of the time' }, linear(5), linear(5)),
      series: [
        boxes(stretches.map(({ from, to, percent }) => ({ x: [from, to], y: [0, percent], fill: colourOf(look) }))),
        ...(isDrawable(limitPercent) ? [across(limitPercent, 0, LEVEL_DASH)] : []),
        // The value that a system is judged by, over its time range.
        ...(isDrawable(achievedPercent) ? [across(achievedPercent, half, 'solid')] : []),
      ],
    },
  };
}

/** Draws one chart per system, because the bars of several would hide one another. */
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

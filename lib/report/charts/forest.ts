/** All ratios on one logarithmic axis, in drawings short enough for a page. Above 1 is worse. */
import type { Effect } from '../../results/document.js';
import { effectText } from '../../results/text/effect-text.js';
import type { Row, View } from '../../results/view.js';
import { intervals } from './marks.js';
import { type Panel, rowAxes, stacked } from './panel.js';
import type { Drawing } from './svg.js';
import { axisLook, stateless, SURFACE, TEXT } from './theme.js';
import { verdictColour, verdictShapes } from './verdict-marks.js';

const ROW = 22;
const WIDTH = 1_000;
const LONGEST = 420;
/** Pixels between an end of the axis and an arrow. `SPACE` is beyond both ends, as a part of the axis. */
const ARROW_AFTER = 12;
const SPACE = 0.07;
const ROWS_PER_DRAWING = 32;
const MOST_ROWS = 256;
/**
 * Largest ratio on the axis. Larger ones become arrows: a ratio of a thousand would squeeze all others onto the line at
 * 1.
 */
const FARTHEST = 16;
const NEAREST = 1.02;

/** An effect that can be drawn on the axis. */
interface Ratio {
  row: Row;
  effect: Effect;
  ratio: number;
  /** Interval of the ratio; null with one round. */
  ci95: [number, number] | null;
}

interface Forest {
  drawings: { category: string; drawing: Drawing }[];
  /** Number of ratios that are left out of the drawings: those nearest to 1. */
  leftOut: number;
  /** Whether any value is beyond the axis. */
  goesBeyond: boolean;
}

/** Ratios that can be drawn, by category. A table lists effects without a ratio, or without a logarithm of it. */
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

const FACTORS = [1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10];

function axisOf([low, high]: [number, number]) {
  const space = SPACE * Math.log(high / low);
  // None so close to 1 that its label would hide that of 1.
  const logs = FACTORS.map(Math.log).filter((log) => log > Math.log(high / low) / 8);
  const all = [...logs.map((log) => -log).reverse(), 0, ...logs];
  const customValues = all.filter((log) => log >= Math.log(low) && log <= Math.log(high));
  return {
    type: 'value' as const,
    ...axisLook,
    min: Math.log(low) - space,
    max: Math.log(high) + space,
    axisTick: { show: false, customValues },
    axisLabel: {
      ...axisLook.axisLabel,
      customValues,
      hideOverlap: true,
      formatter: (place: number) => `× ${Number(Math.exp(place).toPrecision(2))}`,
    },
  };
}

const isWithin = (value: number, [low, high]: [number, number]): boolean => value >= low && value <= high;

const ratioText = ({ row, effect, ci95 }: Ratio): string =>
  `${effectText(effect, row.unit)}${ci95 ? '' : ' (no interval)'}`;

const described = (ratio: Ratio): string => {
  const { row, effect } = ratio;
  const pair = `${effect.system} against ${effect.baseline}`;
  return `${row.id} ${row.name}, ${pair}: ${ratioText(ratio)}, ${effect.verdict}`;
};

const [ARROW, DOUBLE] = ['path://M0 0l5 5-5 5', 'path://M0 0l5 5-5 5M5 0l5 5-5 5'];

/** Arrows for what continues beyond the axis: one for an interval, a double one for the ratio. */
function arrowsOf({ ratio, ci95, effect }: Ratio, row: number, [low, high]: [number, number]) {
  const [from, to] = ci95 ?? [ratio, ratio];
  const arrow = (value: number, end: number, way: 1 | -1) =>
    way * (value - end) <= 0
      ? []
      : [
          {
            value: [Math.log(end), row],
            symbol: way * (ratio - end) > 0 ? DOUBLE : ARROW,
            symbolSize: way * (ratio - end) > 0 ? 10 : [5, 10],
            symbolRotate: way > 0 ? 0 : 180,
            symbolOffset: [way * ARROW_AFTER, 0],
            itemStyle: { color: 'none', borderColor: verdictColour(effect.verdict), borderWidth: 1.5 },
          },
        ];
  return [...arrow(Math.min(from, ratio), low, -1), ...arrow(Math.max(to, ratio), high, 1)];
}

function markOf({ ratio, effect: { verdict } }: Ratio, row: number) {
  const { d, isHollow } = verdictShapes[verdict];
  const colour = verdictColour(verdict);
  return {
    value: [Math.log(ratio), row],
    symbol: `path://${d}`,
    // Hollow ones are filled with the background, so that they hide the line below them.
    itemStyle: isHollow ? { color: SURFACE, borderColor: colour, borderWidth: 1.75 } : { color: colour },
  };
}

function drawing(category: string, ratios: readonly Ratio[], ends: [number, number]): Drawing {
  const place = (value: number) => Math.log(Math.min(Math.max(value, ends[0]), ends[1]));
  const placed = ratios.map((one, row) => ({ one, row, tip: described(one) }));
  const spans = placed.filter(({ one: { ci95 } }) => ci95 && ci95[1] >= ends[0] && ci95[0] <= ends[1]);
  const within = placed.filter(({ one: { ratio } }) => isWithin(ratio, ends));
  const arrows = placed.flatMap(({ one, row, tip }) => arrowsOf(one, row, ends).map((arrow) => ({ arrow, tip })));
  const axes = rowAxes(
    ratios.map(({ row, effect }) => `${row.id} ${row.name}, ${effect.system}`),
    ratios.map((one) => `${ratioText(one)} ${one.effect.verdict}`),
    {
      xAxis: axisOf(ends),
      row: ROW,
      longest: LONGEST,
      colour: (row) => verdictColour(ratios[row]?.effect.verdict ?? 'same'),
    },
  );
  const [left, right] = axes.yAxis;
  const panel: Panel = {
    ...axes,
    yAxis: [{ ...left, axisLine: { lineStyle: { color: TEXT } } }, right],
    label: `${placed.map(({ tip }) => tip).join('; ')}.`,
    tips: [spans, within, arrows].map((of) => of.map(({ tip }) => tip)),
    series: [
      intervals(
        spans.map(({ one: { ci95, effect }, row }) => {
          const [from, to] = ci95 as [number, number];
          return {
            from: [place(from), row],
            to: [place(to), row],
            colour: verdictColour(effect.verdict),
            caps: [isWithin(from, ends), isWithin(to, ends)],
          };
        }),
      ),
      { type: 'scatter', ...stateless, z: 4, symbolSize: 10, data: within.map(({ one, row }) => markOf(one, row)) },
      { type: 'scatter', ...stateless, z: 4, data: arrows.map(({ arrow }) => arrow) },
    ],
  };
  return stacked([panel], `Ratios of ${category}.`, WIDTH);
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
  const goesBeyond = [...shown].some(({ ratio, ci95 }) =>
    [ratio, ...(ci95 ?? [])].some((value) => !isWithin(value, ends)),
  );
  return { drawings, leftOut: flat.length - shown.size, goesBeyond };
}

/** Shapes for custom series. */
import type { CustomSeriesOption } from 'echarts/charts';
import { asDrawn } from './text.js';
import { font, SURFACE, TEXT } from './theme.js';

export type CustomSeriesRenderItem = Exclude<NonNullable<CustomSeriesOption['renderItem']>, string>;

const CAP = 4;

export type Place = [x: number, y: number];

export const line = (points: Place[], colour: string, lineWidth = 1.5, lineDash: number[] = []) => ({
  type: 'polyline' as const,
  shape: { points },
  style: { stroke: colour, lineWidth, fill: 'none', ...(lineDash.length > 0 && { lineDash }) },
});

/** A line in one stroke; `caps` lists the ends that get a cap. */
export function capped(low: number, high: number, y: number, caps: readonly number[] = [low, high]): Place[] {
  const end = (x: number): Place[] =>
    caps.includes(x)
      ? [
          [x, y - CAP],
          [x, y + CAP],
          [x, y],
        ]
      : [[x, y]];
  return [...end(low), ...end(high).reverse()];
}

/** Adds an outline in the background colour, because bars have every colour. */
export const haloed = (points: Place[], ground: number, lineDash: number[] = []) => [
  line(points, SURFACE, ground),
  line(points, TEXT, 1.5, lineDash),
];

interface TextLook {
  align?: 'left' | 'right' | 'center';
  colour?: string;
  bold?: boolean;
  /** Whether the mark has an outline in the background colour, in case lines cross it. */
  isHaloed?: boolean;
}

export const textAt = (x: number, y: number, text: string, look: TextLook = {}) => ({
  type: 'text' as const,
  style: {
    ...font,
    text: asDrawn(text),
    x,
    y,
    align: look.align ?? 'left',
    verticalAlign: 'middle' as const,
    fill: look.colour ?? TEXT,
    ...(look.bold && { fontWeight: 'bold' as const }),
    ...(look.isHaloed && { stroke: SURFACE, lineWidth: 3 }),
  },
});

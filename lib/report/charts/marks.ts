/** What custom series draw. */
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

/** Of one stroke; `caps` are the ends that have one. */
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

/** On a ground of its own, since bars have every colour. */
export const haloed = (points: Place[], ground: number, lineDash: number[] = []) => [
  line(points, SURFACE, ground),
  line(points, TEXT, 1.5, lineDash),
];

interface TextLook {
  align?: 'left' | 'right' | 'center';
  colour?: string;
  bold?: boolean;
  /** On a ground of its own, where lines may cross it. */
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

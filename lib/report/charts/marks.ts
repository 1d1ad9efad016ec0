/** What custom series draw. */
import type { CustomSeriesOption } from 'echarts/charts';
import { font, SURFACE, TEXT } from './theme.js';

export type CustomSeriesRenderItem = Exclude<NonNullable<CustomSeriesOption['renderItem']>, string>;

const CAP = 4;

export type Place = [x: number, y: number];

export const line = (points: Place[], colour: string, lineWidth = 1.5) => ({
  type: 'polyline' as const,
  shape: { points },
  style: { stroke: colour, lineWidth, fill: 'none' },
});

/** Of one stroke. */
function capped(low: number, high: number, y: number): Place[] {
  const cap = (x: number): Place[] => [
    [x, y - CAP],
    [x, y + CAP],
  ];
  return [...cap(low), [low, y], [high, y], ...cap(high)];
}

export const whisker = (low: number, high: number, y: number, colour: string) => line(capped(low, high, y), colour);

/** On a ground of its own, since bars have every colour. */
export const haloed = (low: number, high: number, y: number) => [
  line(capped(low, high, y), SURFACE, 4.5),
  line(capped(low, high, y), TEXT),
];

interface TextLook {
  align?: 'left' | 'right' | 'center';
  colour?: string;
  bold?: boolean;
}

export const textAt = (x: number, y: number, text: string, look: TextLook = {}) => ({
  type: 'text' as const,
  style: {
    ...font,
    text,
    x,
    y,
    align: look.align ?? 'left',
    verticalAlign: 'middle' as const,
    fill: look.colour ?? TEXT,
    ...(look.bold && { fontWeight: 'bold' as const }),
  },
});

/** Marks for which ECharts has no series: intervals with caps, and boxes between two values. */
import type { CustomSeriesOption } from 'echarts/charts';
import { asDrawn } from './text.js';
import { font, still, TEXT } from './theme.js';

export type Point = [x: number, y: number];

const CAP = 4;

export interface Interval {
  from: Point;
  to: Point;
  colour?: string;
  /** Which ends have a cap. */
  caps?: [from: boolean, to: boolean];
}

/** Draws intervals along either axis. The axes include both ends. */
export const intervals = (list: readonly Interval[]): CustomSeriesOption => ({
  type: 'custom',
  ...still,
  z: 3,
  data: list.map(({ from, to }) => [...from, ...to]),
  encode: { x: [0, 2], y: [1, 3] },
  renderItem: ({ dataIndex }, api) => {
    const { from, to, colour = TEXT, caps = [true, true] } = list[dataIndex] as Interval;
    const places = [from, to].map((end) => api.coord(end) as Point);
    const [dx, dy] = from[1] === to[1] ? [0, CAP] : [CAP, 0];
    const [start, end] = places.map(([x, y], i): Point[] =>
      caps[i]
        ? [
            [x - dx, y - dy],
            [x + dx, y + dy],
            [x, y],
          ]
        : [[x, y]],
    ) as [Point[], Point[]];
    return {
      type: 'polyline',
      shape: { points: [...start, ...end.reverse()] },
      style: { stroke: colour, lineWidth: 1.5, fill: 'none' },
    };
  },
});

interface Box {
  x: [from: number, to: number];
  /** Ends on the y axis; without them, a box is as high as the plot. */
  y?: [from: number, to: number];
  /** Height in pixels, around a row of a category axis. */
  height?: number;
  fill: string;
  name?: string;
}

export const boxes = (list: readonly Box[], z = 2): CustomSeriesOption => ({
  type: 'custom',
  ...still,
  z,
  data: list.map(({ x, y = [] }) => [...x, ...y]),
  encode: { x: [0, 1], y: list.some(({ y }) => y) ? [2, 3] : [] },
  renderItem: ({ dataIndex, coordSys }, api) => {
    const { x, y = [0, 0], height, fill, name } = list[dataIndex] as Box;
    const plot = coordSys as unknown as { y: number; height: number };
    const [[left = 0, bottom = 0], [right = 0, top = 0]] = [0, 1].map((end) =>
      api.coord([x[end], y[end]]),
    ) as Point[] as [Point, Point];
    const upright = list[dataIndex]?.y
      ? height === undefined
        ? { y: Math.min(top, bottom), height: Math.abs(bottom - top) }
        : { y: top - height / 2, height }
      : { y: plot.y, height: plot.height };
    return {
      type: 'rect',
      shape: { x: left, width: right - left, ...upright },
      style: { fill },
      ...(name !== undefined && {
        textConfig: { position: 'insideTopLeft', distance: 3 },
        textContent: {
          type: 'text',
          style: { ...font, text: asDrawn(name), fill: TEXT, width: right - left - 6, overflow: 'truncate' },
        },
      }),
    };
  },
});

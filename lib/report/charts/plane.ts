/** Two value axes: the common part of line and share charts. */
import { type Scale, ticksOf } from './scale.js';
import { widest } from './text.js';
import { axisLook, fixed } from './theme.js';

export const SIZE = { width: 360, height: 240 } as const;

/** Space between an axis and the text beside it. */
const GAP = 14;

export function plane(titles: { x: string; y: string }, xs: Scale, ys: Scale) {
  const left = GAP + widest(ticksOf(ys));
  const right = GAP + widest(ticksOf(xs).slice(-1)) / 2;
  return {
    grid: { ...fixed, left, right, top: 28, bottom: 44 },
    xAxis: {
      type: 'value' as const,
      ...axisLook,
      axisLine: { ...axisLook.axisLine, onZero: ys.crossesAtZero },
      splitLine: { show: false },
      min: xs.min,
      max: xs.max,
      interval: xs.interval,
      axisLabel: { ...axisLook.axisLabel, formatter: xs.format, hideOverlap: true },
      name: titles.x,
      nameLocation: 'middle' as const,
      nameGap: 28,
    },
    yAxis: {
      type: 'value' as const,
      ...axisLook,
      axisLine: { ...axisLook.axisLine, onZero: xs.crossesAtZero },
      min: ys.min,
      max: ys.max,
      interval: ys.interval,
      axisLabel: { ...axisLook.axisLabel, formatter: ys.format },
      name: titles.y,
      nameGap: 12,
      nameTextStyle: { ...axisLook.nameTextStyle, align: 'left' as const, padding: [0, 0, 0, -left + 8] },
    },
  };
}

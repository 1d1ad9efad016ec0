/** One row a system, values to the right: what bars and boxes have in common. */
import type { ChartOption, Size } from './echarts.js';
import type { Scale } from './scale.js';
import { axisLook, TEXT } from './theme.js';

const WIDTH = 420;
const LONGEST_NAME = 112;
const CHARACTER = 6.6;
const ROW = 30;

export const sizeFor = (systems: number): Size => ({ width: WIDTH, height: ROW * systems + 30 });

/** As wide as the longest name, about. */
const namesWidth = (names: readonly string[]): number =>
  Math.min(LONGEST_NAME, 20 + CHARACTER * Math.max(...names.map(({ length }) => Math.min(length, 30))));

/** `right`: room for text beside the plot. */
export function systemsAxes(names: readonly string[], scale: Scale, right: number): ChartOption {
  const { min, max, interval, format } = scale;
  const left = namesWidth(names);
  return {
    grid: { left, right, top: 4, bottom: 24 },
    xAxis: {
      type: 'value',
      ...axisLook,
      min,
      max,
      interval,
      axisLine: { show: false },
      axisLabel: { ...axisLook.axisLabel, formatter: format, hideOverlap: true },
    },
    yAxis: {
      type: 'category',
      ...axisLook,
      splitLine: { show: false },
      inverse: true,
      // Names never reach ECharts as data, where it looks for templates and doubles.
      data: names.map((_, i) => i),
      axisLabel: {
        ...axisLook.axisLabel,
        color: TEXT,
        interval: 0,
        width: left - 12,
        overflow: 'truncate',
        formatter: (_: string, i: number) => names[i] ?? '',
      },
    },
  };
}

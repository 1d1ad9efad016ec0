/**
 * The parts of ECharts that reports use. In the package this file is a bundle of them (scripts/bundle-charts.js), so
 * that installing the package does not install ECharts.
 */
import type {
  BarSeriesOption,
  BoxplotSeriesOption,
  CustomSeriesOption,
  LineSeriesOption,
  ScatterSeriesOption,
} from 'echarts/charts';
import { BarChart, BoxplotChart, CustomChart, LineChart, ScatterChart } from 'echarts/charts';
import type { GridComponentOption } from 'echarts/components';
import { GridComponent } from 'echarts/components';
import { type ComposeOption, init, setPlatformAPI, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

export type ChartOption = ComposeOption<
  | BarSeriesOption
  | BoxplotSeriesOption
  | CustomSeriesOption
  | LineSeriesOption
  | ScatterSeriesOption
  | GridComponentOption
>;

export interface Size {
  width: number;
  height: number;
}

use([BarChart, BoxplotChart, CustomChart, LineChart, ScatterChart, GridComponent, SVGRenderer]);

/** Sets how text is measured: ECharts cannot measure without a browser, and its own estimates are for a narrow font. */
export const measureBy = (widthOf: (text: string) => number): void =>
  setPlatformAPI({ measureText: (text) => ({ width: widthOf(text) }) });

export function draw(option: ChartOption, { width, height }: Size): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({ animation: false, ...option });
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

/** The exported function of a metric. What measures is loaded with the first call: importing the library stays cheap. */
import type { MetricResult } from '../results/document.js';
import type { MeasureOptions, MetricDefinition } from './metric.js';

export type MeasureFunction = (options?: MeasureOptions) => Promise<MetricResult>;

export const measureFunction =
  (definition: MetricDefinition): MeasureFunction =>
  async (options) =>
    (await import('./measure.js')).measureMetric(definition, options);

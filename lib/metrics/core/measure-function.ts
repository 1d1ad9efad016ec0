/**
 * The exported function of a metric. Its code is loaded with the first call, so that importing the library is fast.
 */
import type { MetricResult } from '../../results/document.js';
import type { MeasureOptions, MetricDefinition } from './metric.js';

type MeasureFunction = (options?: MeasureOptions) => Promise<MetricResult>;

export const measureFunction =
  (definition: MetricDefinition): MeasureFunction =>
  async (options) =>
    (await import('./measure.js')).measureMetric(definition, options);

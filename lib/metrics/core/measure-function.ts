/**
 * The exported function of a metric. Its code is loaded with the first call, so that importing the library is fast.
 */
import type { MetricResult } from '../../results/document.js';
import type { CommonDetails } from './details.js';
import type { MeasureOptions, MetricDefinition } from './metric.js';

type MeasureFunction<Details> = (options?: MeasureOptions) => Promise<MetricResult<Details & CommonDetails>>;

export const measureFunction =
  <Details>(definition: MetricDefinition<Details>): MeasureFunction<Details> =>
  async (options) => {
    const { measureMetric } = await import('./measure.js');
    return (await measureMetric(definition as MetricDefinition, options)) as MetricResult<Details & CommonDetails>;
  };

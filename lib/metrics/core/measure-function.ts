/** The exported functions of metrics. */
import type { MetricResult } from '../../results/document.js';
import type { CommonDetails } from './details.js';
import type { MeasureOptions, MetricDefinition } from './metric.js';

type MeasureFunction<Details> = (options?: MeasureOptions) => Promise<MetricResult<Details & CommonDetails>>;

/** The function of a metric. */
export const measureFunction =
  <Details>(definition: MetricDefinition<Details>): MeasureFunction<Details> =>
  async (options) => {
    const { measureMetric } = await import('./measure.js');
    return (await measureMetric(definition as MetricDefinition, options)) as MetricResult<Details & CommonDetails>;
  };

/** Functions that are loaded with the first call of one, so that importing the library is fast. */
export const onDemandFrom =
  <All>(load: () => Promise<All>) =>
  <Details>(pick: (all: All) => MeasureFunction<Details>): MeasureFunction<Details> =>
  async (options) =>
    pick(await load())(options);

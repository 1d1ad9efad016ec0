/** How a request is measured, whatever it measures. */
import type { MeasureOptions } from '../metrics/core/metric.js';
import type { RunRequest } from '../run/run-request.js';

export type Measuring = Pick<
  RunRequest,
  'target' | 'device' | 'requireGpu' | 'timeoutSeconds' | 'strict' | 'options' | 'signal'
>;

/** Options of every metric that a document records if they were given. */
export type MetricOptions = Pick<
  MeasureOptions,
  'iterations' | 'warmup' | 'resolution' | 'samples' | 'workload' | 'model'
>;

/** Those that were given. */
export function metricOptions(given: MetricOptions): MetricOptions {
  const { iterations, warmup, resolution, samples, workload, model } = given;
  return {
    ...(iterations !== undefined && { iterations }),
    ...(warmup !== undefined && { warmup }),
    ...(resolution !== undefined && { resolution }),
    ...(workload !== undefined && { workload }),
    ...(model !== undefined && { model }),
    ...(samples === true && { samples }),
  };
}

import type { MeasureOptions, Progress } from '../metrics/core/metric.js';
import { inWorker } from '../metrics/in-worker.js';
import { simulatedDriver } from '../native/load.js';
import type { Handler } from '../workers/serve.js';
import { keepContext } from './on-device.js';

interface MeasureRequest {
  id: string;
  options: MeasureOptions;
  headlineOnly: boolean;
}

/** Measures a metric that runs within one process. */
export const measure: Handler = async (params, progress) => {
  const { id, options, headlineOnly } = params as MeasureRequest;
  const { measureMetric } = await import('../metrics/core/measure.js');
  const { resolveOptions } = await import('../metrics/core/options.js');
  const definition = await inWorker[id]?.();
  if (!definition) throw new Error(`This worker knows no metric named ${id}.`);
  const { device, path, simulate } = resolveOptions(options);
  await keepContext({ simulatedDriver: simulatedDriver(simulate), device, path });
  return measureMetric(
    definition,
    { ...options, onProgress: (value: Progress) => progress(value) },
    { inWorker: true, headlineOnly },
  );
};

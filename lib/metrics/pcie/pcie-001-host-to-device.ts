/** PCIE-001: how fast pinned memory of the host is copied to the device. */
import type { MetricDefinition } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { batched, type CopyCurveDetails, copyCurveDetails, curveChart, measureCopyCurve } from './copy-curve.js';
import { beyondLink } from './link.js';

export const hostToDevice: MetricDefinition<CopyCurveDetails> = {
  id: 'PCIE-001',
  name: 'Host-to-Device Bandwidth',
  category: 'pcie',
  unit: 'GB/s',
  direction: 'higher',
  question: 'How fast are weights loaded and prompts uploaded, and are copies metered?',
  estimator: 'median of cuMemcpyHtoDAsync of 256 MiB from pinned memory, by events',
  delta: { relative: 0.02 },
  comparedAt: { name: 'bytes of a copy', of: ({ bytes }) => bytes },
  impossible: beyondLink,
  needs: ['pinned memory'],
  functionName: 'measureHostToDevice',
  where: 'process',
  lineCharts: [curveChart('Host-to-device bandwidth against size')],
  details: copyCurveDetails,
  seconds: { quick: 2, standard: 3, thorough: 5 },
  measure: (context) =>
    measureCopyCurve(context, {
      way: 'cuMemcpyHtoDAsync',
      others: (bytes) => [batched('cuMemcpyBatchAsync to the device', bytes)],
    }),
};

/**
 * PCIE-001, GB/s: median rate of cuMemcpyHtoDAsync of 256 MiB (or a quarter of the memory that the process may use) from
 * pinned memory, each copy verified on the device. `details.sizes[]` has smaller copies, `details.others[]` many copies
 * in one call, `details.link` what NVML reports about the link under load. A rate above that of the link is `invalid`.
 */
export const measureHostToDevice = measureFunction(hostToDevice);

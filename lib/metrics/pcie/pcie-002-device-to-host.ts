/** PCIE-002: how fast memory of the device is copied to pinned memory of the host, alone and in both directions at once. */
import type { MetricDefinition } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { batched, type CopyCurveDetails, copyCurveDetails, curveChart, measureCopyCurve } from './copy-curve.js';
import { beyondLink } from './link.js';

export const deviceToHost: MetricDefinition<CopyCurveDetails> = {
  id: 'PCIE-002',
  name: 'Device-to-Host Bandwidth',
  category: 'pcie',
  unit: 'GB/s',
  direction: 'higher',
  question: 'How fast are keys and values offloaded and checkpoints written?',
  estimator: 'median of cuMemcpyDtoHAsync of 256 MiB to pinned memory, by events',
  delta: { relative: 0.02 },
  comparedAt: { name: 'bytes of a copy', of: ({ bytes }) => bytes },
  impossible: beyondLink,
  needs: ['pinned memory'],
  functionName: 'measureDeviceToHost',
  where: 'process',
  lineCharts: [curveChart('Device-to-host bandwidth against size')],
  details: copyCurveDetails,
  seconds: { quick: 2, standard: 3, thorough: 5 },
  measure: (context) =>
    measureCopyCurve(context, {
      way: 'cuMemcpyDtoHAsync',
      others: (bytes) => [
        batched('cuMemcpyBatchAsync to the host', bytes),
        // Each direction has its own memory of half the size, so that both fit where one copy does.
        { way: 'both directions at once', bytes: bytes / 2, copies: 1 },
        { way: 'stores of a kernel', bytes, copies: 1 },
      ],
    }),
};

/**
 * PCIE-002, GB/s: like PCIE-001 in the other direction: median rate of cuMemcpyDtoHAsync of 256 MiB to pinned memory,
 * verified on the host. `details.others[]` has many copies in one call, copies in both directions at once (the bytes of
 * both count), and stores of a kernel to mapped memory.
 */
export const measureDeviceToHost = measureFunction(deviceToHost);

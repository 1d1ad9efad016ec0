import { expect, it } from 'vitest';
import type { MeasuredRun } from '../../../lib/workloads/program/measured-run.js';
import { programMetrics } from '../../../lib/workloads/metrics/program-metrics.js';

const memoryOf = (programBytes: number | null) =>
  programMetrics['gpu-memory'].of({ gpu: { seen: { programBytes } } } as unknown as MeasuredRun);

it('gives no peak of GPU memory where NVML lists a client of MPS that has just come, with 0 bytes', () => {
  expect(memoryOf(1)).toMatchObject({ value: 1 });
  for (const none of [0, null])
    expect(memoryOf(none)).toMatchObject({ missing: 'NVML listed no process of the program with memory' });
});

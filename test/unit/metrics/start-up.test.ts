/** How many processes START-006 starts, and which starts are credible. */
import { describe, expect, it } from 'vitest';
import { capacityBy } from '../../../lib/metrics/start-up/capacity.js';
import { startChecks } from '../../../lib/metrics/tenants/fresh-processes.js';
import { invalidBy } from '../../../lib/metrics/core/metric.js';
import type { StartUpAnswer } from '../../../lib/workers/start-up.js';

const GIB = 2 ** 30;
const alone = (gpuFreeDuringBytes: number | null, gpuFreeAfterBytes: number | null) =>
  ({ gpuFreeDuringBytes, gpuFreeAfterBytes, peakRssBytes: GIB / 4 }) as StartUpAnswer;

describe('room for processes', () => {
  it.each([
    ['the GPU', alone(9.5 * GIB, 10 * GIB), 100 * GIB, 18, 'GPU memory'],
    ['the host', alone(9.5 * GIB, 10 * GIB), 4 * GIB, 12, 'host memory'],
    ['the host where NVML cannot tell', alone(null, null), 4 * GIB, 12, 'host memory'],
    ['the host where others freed GPU memory meanwhile', alone(10 * GIB, 9 * GIB), 4 * GIB, 12, 'host memory'],
  ] as const)('is limited by %s', (_, start, hostBytes, processes, limitedBy) =>
    expect(capacityBy(start, hostBytes)).toMatchObject({ processes, limitedBy }),
  );
});

describe('a start that takes', () => {
  const of = (...totalMs: number[]) => {
    const nvml = { pid: 1, processesBefore: [], processesDuring: [], processesAfter: [], mpsClient: false };
    const starts = totalMs.map((ms) => ({ ...nvml, totalNs: 1e6 * ms, resultCorrect: true }) as never as StartUpAnswer);
    return invalidBy(startChecks(starts));
  };

  it('less than 5 ms created no context: one makes the metric invalid', () =>
    expect(of(30, 4.9, 30)).toEqual({
      status: 'invalid',
      reason: 'context really created: shortest start 4.9 ms, at least 5 ms is credible',
    }));

  it('at least 5 ms is credible', () => expect(of(5, 30)).toEqual({}));
});

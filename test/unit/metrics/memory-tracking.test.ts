/** OH-007 with known cells: the effect of its line, its residuals and the memory for blocks. */
import { describe, expect, it } from 'vitest';
import type { MeasureContext } from '../../../lib/metrics/core/metric.js';
import { memoryTrackingOverhead } from '../../../lib/metrics/overhead/oh-007-memory-tracking.js';
import { BenchError } from '../../../lib/errors/bench-error.js';
import type { LiveSetCell, LiveSetRequest } from '../../../lib/native/addon-types.js';
import { sessionOf } from '../run/fixtures.js';

const GIB = 2 ** 30;
const constant = (ns: number, count: number) => new Float64Array(count).fill(ns);

async function measured(freeNs: (live: number, visit: number) => number, freeBytes = 80 * GIB, iterations = 8) {
  const requests: LiveSetRequest[] = [];
  const session = sessionOf({
    visibleMemory: () => Promise.resolve({ freeBytes, totalBytes: 80 * GIB }),
    health: () => Promise.resolve({ freeBytes }),
    allocationPairs: () => Promise.reject(new BenchError('FUNCTION_MISSING', 'cuMemFree_v2 was overwritten.')),
    liveSets: (request: LiveSetRequest) => {
      const visit = requests.push(request) - 1;
      return Promise.resolve(
        request.lives.map((live): LiveSetCell => ({
          live,
          allocNs: constant(1_000, request.count),
          freeNs: constant(freeNs(live, visit), request.count),
          queryNs: constant(50, request.count),
          usedBefore: null,
          usedLive: null,
          usedAfter: null,
        })),
      );
    },
  });
  const options = { iterations, tier: 'standard', seed: 1, warmup: null };
  const context = { options, session: () => Promise.resolve(session), progress: () => {} } as unknown as MeasureContext;
  return { ...(await memoryTrackingOverhead.measure(context)), requests };
}

describe('OH-007', () => {
  it('takes alloc + free at 1 024 blocks from the line', async () => {
    const result = await measured((live) => 500 + 2 * live);
    expect(result.status ?? 'ok').toBe('ok');
    expect(result.value).toBeCloseTo(1_500 + 2_048, 6);
    expect(result.details).toMatchObject({ slopeNsPerBlock: 2, interceptNs: 1_500, leftOut: [] });
  });

  it('fits its line even if one number of blocks was visited more often beside a busy hyper-thread', async () => {
    // 50 % slower: six of ten visits at 1 024, four elsewhere. With a median over all pairs one cell would be 50 % off.
    const slow = (live: number, visit: number) => visit < (live === 1_024 ? 6 : 4);
    const result = await measured((live, visit) => 9_000 * (slow(live, visit) ? 1.5 : 1), 80 * GIB, 100);
    expect(result.status ?? 'ok').toBe('ok');
    const expected = 1_000 + 9_000 * 1.2;
    expect(Math.abs((result.value as number) / expected - 1)).toBeLessThan(0.1);
    const [low, high] = result.ci95 as [number, number];
    expect(low).toBeLessThan(expected);
    expect(high).toBeGreaterThan(expected);
  });

  it('has its value without pairs, and the reason why there are none', async () => {
    const { value, details } = await measured(() => 500);
    expect(value).toBe(1_500);
    expect(details.pairs).toEqual(
      ['cuMemAlloc_v2', 'cuMemFree_v2'].map((name) => ({
        name,
        call: `${name} of 64 KiB, 1024 live`,
        bytes: 65_536,
        live: 1_024,
        unsupported: 'cuMemFree_v2 was overwritten.',
      })),
    );
    expect(details).not.toHaveProperty('pairsTogether');
  });

  it('is invalid if the cells are not on a line', async () => {
    const result = await measured((live) => live ** 2 / 100);
    expect(result).toMatchObject({
      status: 'invalid',
      reason: expect.stringMatching(/^cells off the line: residual CV \d+/),
    });
    expect(result.checks).toContainEqual(expect.objectContaining({ passed: false }));
  });

  it('leaves out cells that half the memory cannot hold, with the reason', async () => {
    const { requests, details, status } = await measured(() => 500, GIB);
    expect(status ?? 'ok').toBe('ok');
    expect([...(requests[0]?.lives ?? [])].sort((a, b) => a - b)).toEqual([0, 256, 1_024, 4_096]);
    expect(details.leftOut).toEqual([{ live: 16_384, unsupported: expect.stringContaining(`${GIB} bytes`) }]);
  });

  it('is unsupported if 4 096 blocks do not fit, and allocates nothing then', async () => {
    const { requests, ...result } = await measured(() => 500, 2 * 4_096 * 65_536 - 1);
    expect(requests).toEqual([]);
    expect(result).toMatchObject({
      status: 'unsupported',
      value: null,
      reason: expect.stringMatching(/^4096 blocks of 64 KiB/),
    });
  });
});

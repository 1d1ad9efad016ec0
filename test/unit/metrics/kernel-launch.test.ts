/** OH-001 with known clock mappings: which launches have a published start. */
import { describe, expect, it } from 'vitest';
import type { MeasureContext } from '../../../lib/metrics/core/metric.js';
import { kernelLaunchLatency } from '../../../lib/metrics/overhead/oh-001-kernel-launch-latency.js';
import { BenchError } from '../../../lib/errors/bench-error.js';
import type { LaunchBlock, LaunchRequest } from '../../../lib/native/addon-types.js';
import { sessionOf } from '../run/fixtures.js';

const constant = (ns: number, count: number) => new Float64Array(count).fill(ns);

type Mapping = LaunchBlock['mapping'];
const good: Mapping = { residualNs: 50, bracketNs: 1_500, driftPpm: 8, tickNs: 32 };

/** `mappingOf` is called for every visit of every call in turn. */
async function measured(mappingOf: (visit: number) => Partial<Mapping>, noPair?: Error) {
  let visits = 0;
  const session = sessionOf({
    launchBlock: ({ count }: LaunchRequest): Promise<LaunchBlock> =>
      Promise.resolve({
        submitNs: constant(2_000, count),
        startNs: constant(4_000, count),
        roundTripNs: constant(9_000, count),
        core: 0,
        mapping: { ...good, ...mappingOf(visits++) },
      }),
    pairBlock: () => {
      if (noPair) return Promise.reject(noPair);
      return Promise.resolve({
        owner: 'libcuda.so.1',
        bareOwner: 'libcuda.so.1',
        intercepted: false,
        calls: 1,
        hookedNs: constant(2_000, 10),
        bareNs: constant(2_000, 10),
        achievedNs: null,
      });
    },
  });
  const options = { iterations: 120, tier: 'quick', seed: 1, warmup: null, resolution: 0.01 };
  const context = { options, session: () => Promise.resolve(session), progress: () => {} } as unknown as MeasureContext;
  const result = await kernelLaunchLatency.measure(context);
  const failed = result.checks.flatMap(({ name, passed }) => (passed === false ? [name] : []));
  const [row] = result.details.calls as {
    startUs: number | null;
    submitUs: number;
    mapping: { blocksMapped: number };
  }[];
  return { ...result, failed, row };
}

describe('the clock mapping of OH-001', () => {
  it('publishes a start if residual and round trip are within their bounds', async () => {
    const { status, value, failed, row } = await measured(() => ({ bracketNs: 5_000, residualNs: 500 }));
    expect({ status, value, failed }).toEqual({ status: undefined, value: 4, failed: [] });
    expect(row?.startUs).toBe(4);
  });

  it('publishes no start if the tightest round trip took more than 5 µs, however small the residual', async () => {
    const { status, reason, failed, row } = await measured(() => ({ bracketNs: 5_001, residualNs: 1 }));
    expect({ status, reason }).toEqual({ status: 'invalid', reason: 'clock mapping' });
    expect(failed).toEqual(['clock mapping round trip']);
    expect(row).toMatchObject({ startUs: null, submitUs: 2, mapping: { blocksMapped: 0 } });
  });

  it('leaves out visits with a long round trip while at least half of them remain', async () => {
    // Three calls alternate.
    const few = await measured((visit) => (Math.floor(visit / 3) % 4 === 0 ? { bracketNs: 9_000 } : {}));
    expect(few.status).toBeUndefined();
    const most = await measured((visit) => (Math.floor(visit / 3) % 4 === 0 ? {} : { bracketNs: 9_000 }));
    expect([most.status, most.failed]).toEqual(['invalid', ['clock mapping round trip']]);
  });

  it('publishes no start if the residual is too large', async () => {
    const { status, failed } = await measured(() => ({ residualNs: 1e5 }));
    expect(status).toBe('invalid');
    expect(failed).toContain('clock mapping residual');
  });
});

describe('the pair of OH-001', () => {
  it('is missing with a reason if no call bypasses the layer, and the launches are still measured', async () => {
    const noPair = new BenchError('FUNCTION_MISSING', 'cuLaunchKernel was overwritten in the driver itself.');
    const { value, details } = await measured(() => ({}), noPair);
    expect(value).toBe(4);
    expect(details.pair).toEqual({ call: 'cuLaunchKernel', unsupported: noPair.message });
  });
});

/** OH-005 with known batches: the effect of its controls. */
import { describe, expect, it } from 'vitest';
import type { MeasureContext } from '../../../lib/metrics/core/metric.js';
import type { Phase } from '../../../lib/results/call-profile.js';
import { DEFAULT_PROFILE, readShippedProfile } from '../../../lib/results/shipped-profiles.js';
import { apiInterceptionOverhead } from '../../../lib/metrics/overhead/oh-005-api-interception-overhead.js';
import type { PairBlock, PairRequest } from '../../../lib/native/addon-types.js';
import { sessionOf } from '../run/fixtures.js';

/** A control and a function that a layer may hook; the control's batches deviate by `offNs`, in turn. */
async function measured(
  iterations: number,
  offNs: readonly number[],
  functions = ['cuStreamQuery', 'cuCtxGetDevice_v2'],
) {
  let controls = 0;
  const calls = sessionOf({
    pairBlock: ({ name, batches, calls: ofBatch }: PairRequest): Promise<PairBlock> => {
      const bareNs = new Float64Array(batches).fill(100);
      const off = () => (name === 'cuStreamQuery' ? (offNs[controls++ % offNs.length] as number) : 20);
      const hookedNs = bareNs.map((bare) => bare + off());
      const owners = { owner: 'libcuda.so.1', bareOwner: 'libcuda.so.1', intercepted: false };
      return Promise.resolve({ ...owners, calls: ofBatch, hookedNs, bareNs, achievedNs: null });
    },
  });
  const session = { ...calls, pairFunctions: () => functions };
  const options = { iterations, tier: 'quick', seed: 1, warmup: null, resolution: 0.01 };
  const context = { options, session: () => Promise.resolve(session), progress: () => {} } as unknown as MeasureContext;
  const result = await apiInterceptionOverhead.measure(context);
  return {
    status: result.status ?? 'ok',
    passed: result.checks[0]?.passed,
    detail: result.checks[0]?.detail,
    value: result.value,
    reason: result.reason,
    details: result.details,
  };
}

describe('the controls of OH-005', () => {
  it('have no effect with too few samples for an interval, because one slow batch of two is noise', async () => {
    expect(await measured(2, [0, 150])).toMatchObject({
      status: 'ok',
      passed: 'not checked',
      detail: '2 samples of a function are too few for an interval',
    });
  });

  it('make the result invalid if the whole interval is off', async () => {
    expect(await measured(40, [9])).toMatchObject({ status: 'invalid', passed: false });
  });

  it('pass if the interval includes zero, despite single slow batches', async () => {
    expect(await measured(40, [0, 1, -1, 0, 300])).toMatchObject({ status: 'ok', passed: true });
  });
});

describe('the headline of OH-005', () => {
  it('is the average over the calls of eager PyTorch decode', async () => {
    const { calls } = (await readShippedProfile(DEFAULT_PROFILE)).phases[0] as Phase;
    const share = (calls.cuCtxGetDevice_v2 as number) / Object.values(calls).reduce((sum, count) => sum + count, 0);
    expect(await measured(40, [0])).toMatchObject({
      status: 'ok',
      value: 20,
      details: { headlineProfile: 'eager', measuredShare: share },
    });
  });

  it('weighs the variant that the driver has', async () => {
    expect(await measured(40, [0], ['cuStreamQuery', 'cuCtxGetDevice'])).toMatchObject({ status: 'ok', value: 20 });
  });

  it('is invalid if most of those calls could not be measured', async () => {
    expect(await measured(40, [0], ['cuStreamQuery', 'cuLaunchKernel'])).toMatchObject({
      status: 'invalid',
      reason: expect.stringMatching(
        /^only 6 % of the calls of eager PyTorch decode could be measured, not cuCtxGetDevice_v2, /,
      ) as string,
    });
  });
});

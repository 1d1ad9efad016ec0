/** The share of the device's time that a worker gets, under the calibration interposer's compute limit and without it. */
import { mean } from 'simple-statistics';
import { afterEach, describe, expect, it } from 'vitest';
import type { ComputeShare, ComputeShareRequest } from '../../../lib/native/addon-types.js';
import { COMPUTE_SHARE } from '../../../lib/native/compute-share.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { localStart } from '../../../lib/workers/local.js';
import { Worker } from '../../../lib/workers/worker.js';
import { emptyFolder, simulatedFolder } from '../../native/child.js';
import { type Granted, grantedOf } from '../../native/granted.js';
import { recordedIn } from '../../native/record.js';
import { ownRegion } from '../../temporary.js';

const library = interposerLibrary() ?? '';
const region = ownRegion('share');
let worker: Worker | undefined;

afterEach(async () => {
  await worker?.stop();
});

async function shareUnder(interpose: string | null, request: Partial<ComputeShareRequest> = {}) {
  const layer = interpose === null ? {} : { LD_PRELOAD: library, GVB_INTERPOSE: interpose };
  const record = emptyFolder();
  const settings = `region=${region},init_ms=1,context_ms=1,record=${record}`;
  worker = await Worker.start({
    start: localStart({ PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM: settings, ...layer }),
  });
  const on = { simulatedDriver: simulatedFolder, device: null, path: 'runtime' };
  const params = { ...COMPUTE_SHARE, ...request, on };
  const share = (await worker.request('computeShare', params, { deadlineMs: 120_000 })) as ComputeShare;
  return { share, granted: grantedOf(recordedIn(record)) };
}

/** A stamp is accurate to one step of the device's timer; a kernel of a millisecond has two. */
const TIMER_STEP_NS = 32;

function expectGranted({ launches, kernelNs, busyShare }: ComputeShare, granted: Granted) {
  expect(launches).toBe(granted.launches);
  expect(Math.abs(kernelNs - granted.kernelNs)).toBeLessThan(2 * TIMER_STEP_NS);
  expect(Math.abs(busyShare - granted.busyShare)).toBeLessThan(1e-4);
}

describe('the compute share', () => {
  it("matches the device's busy time without a limit", async () => {
    const { share, granted } = await shareUnder(null);
    expectGranted(share, granted);
    expect(share.busyShare).toBeLessThanOrEqual(1);
    expect(share.bins.length).toBeGreaterThanOrEqual(9);
  });

  it.each([50, 25])('matches what a limit of %i % granted', async (percent) => {
    const { share, granted } = await shareUnder(`sm=${percent}`);
    expectGranted(share, granted);
    // The limit itself: on a busy machine a tenant gets less, but never more for long.
    expect(granted.busyShare).toBeLessThan(percent / 100 + 0.05);
    // The windows leave out at most a tenth of it.
    expect(Math.abs(mean(share.bins) - share.busyShare)).toBeLessThanOrEqual(0.1);
  });

  it('refuses a request that would measure nothing', async () => {
    await expect(shareUnder(null, { inFlight: 0 })).rejects.toThrow('Expected a positive integer for inFlight.');
  });

  it('reports that kernels were too short for its duration', async () => {
    const short = shareUnder(null, { blocks: 1, threadsPerBlock: 32, spinNs: 1, durationMs: 15_000 });
    await expect(short).rejects.toMatchObject({
      code: 'INVALID_RESULT',
      message: expect.stringMatching(/^Expected kernels so long that /),
    });
  });
});

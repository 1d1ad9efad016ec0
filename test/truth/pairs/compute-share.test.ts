/** The share of the device's time that a worker gets, under the calibration interposer's compute limit and without it. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mean } from 'simple-statistics';
import { afterEach, describe, expect, it } from 'vitest';
import type { ComputeShare, ComputeShareRequest } from '../../../lib/native/addon-types.js';
import { COMPUTE_SHARE } from '../../../lib/native/compute-share.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { Worker } from '../../../lib/workers/worker.js';
import { emptyFolder, root, simulatedFolder } from '../../native/child.js';

const library = interposerLibrary() ?? '';
const region = `share-${randomUUID().slice(0, 13)}`;
let worker: Worker | undefined;

afterEach(async () => {
  await worker?.stop();
  rmSync(`/dev/shm/gvb-sim-${process.getuid?.()}-${region}`, { force: true });
});

async function shareUnder(interpose: string | null, request: Partial<ComputeShareRequest> = {}): Promise<ComputeShare> {
  const layer = interpose === null ? {} : { LD_PRELOAD: library, GVB_INTERPOSE: interpose };
  const settings = `region=${region},init_ms=1,context_ms=1`;
  worker = await Worker.start({
    environment: { PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM: settings, ...layer },
    argvPrefix: [process.execPath, `${root}/dist/worker-main.js`],
  });
  const target = { simulatedDriver: simulatedFolder, device: null, path: 'runtime' };
  const params = { ...target, ...COMPUTE_SHARE, ...request };
  return (await worker.request('computeShare', params, { deadlineMs: 20_000 })) as ComputeShare;
}

/** Others that keep this process from running for long let the device run dry: that lowers a share, nothing raises it. */
const retry = 2;

describe('the compute share', () => {
  it('is all of the device without a limit', { retry }, async () => {
    const { launches, kernelNs, busyShare, bins } = await shareUnder(null);
    // 500 waves of 2 us, and the 1000 ns that any kernel takes there.
    expect(Math.abs(kernelNs - 1_001_000)).toBeLessThan(100);
    expect(busyShare).toBeGreaterThanOrEqual(0.95);
    expect(busyShare).toBeLessThan(1.0001);
    expect(launches).toBeGreaterThan(900);
    expect(bins.length).toBeGreaterThanOrEqual(9);
  });

  it.each([50, 25])('is what a limit of %i % leaves', { retry }, async (percent) => {
    const { busyShare, bins } = await shareUnder(`sm=${percent}`);
    expect(Math.abs(busyShare - percent / 100)).toBeLessThanOrEqual(0.05);
    // The windows leave out a tenth of it at most.
    expect(Math.abs(mean(bins) - busyShare)).toBeLessThanOrEqual(0.06);
  });

  it('refuses a request that would measure nothing', async () => {
    await expect(shareUnder(null, { inFlight: 0 })).rejects.toThrow('Expected a positive integer for inFlight.');
  });

  it('says that kernels were too short for its duration', async () => {
    const short = shareUnder(null, { blocks: 1, threadsPerBlock: 32, spinNs: 1, durationMs: 15_000 });
    await expect(short).rejects.toMatchObject({
      code: 'INVALID_RESULT',
      message: expect.stringMatching(/^Expected kernels so long that /),
    });
  });
});

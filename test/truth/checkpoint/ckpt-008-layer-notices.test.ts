/** CKPT-008 on the simulated card: layers whose account is known to follow a checkpoint, or not to. */
import { expect, it } from 'vitest';
import type { LayerNoticesDetails } from '../../../lib/metrics/checkpoint/ckpt-008-layer-notices.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { CONTEXT_MIB, type Limited, measuredOutside } from '../../native/memory-limited.js';
import { ownRegion } from '../../temporary.js';

const QUOTA = `quota=2560MiB,context=${CONTEXT_MIB}MiB,pool={pool}`;
const measured = (of: Limited) => measuredOutside('CKPT-008', of);
const held = ({ details }: MetricResult): boolean[] =>
  (details as unknown as LayerNoticesDetails).rows.map(({ holds }) => holds);

it('says that a layer with an account of its own charges a process that is checkpointed', async () => {
  const result = await measured({ memory: '2560MiB', interpose: QUOTA, memLimit: 'perTenantPool' });
  expect(result).toMatchObject({ status: 'ok', details: { limitBytes: 2560 * 2 ** 20 } });
  const [, uncharged, limited] = held(result);
  expect([uncharged, limited]).toEqual([false, true]);
});

it('is invalid under a limit that nobody holds', async () => {
  const result = await measured({ memory: '1GiB', interpose: 'cuMemAlloc_v2=+0ns' });
  expect(result).toMatchObject({ status: 'invalid' });
  expect(result.reason).toMatch(/the limit holds before the checkpoint/);
});

it('is invalid if the contents come back changed', async () => {
  const result = await measured({
    memory: '2560MiB',
    interpose: QUOTA,
    memLimit: 'perTenantPool',
    sim: `region=${ownRegion('changed')},checkpoint_corrupts=1`,
  });
  expect(result).toMatchObject({ status: 'invalid' });
  expect(result.reason).toMatch(/as before/);
});

it("is unsupported under the driver's own limit, which MPS has and checkpoints do not", async () => {
  const result = await measured({ memory: '1GiB', driver: '1G', memLimit: 'perProcess' });
  expect(result).toMatchObject({ status: 'unsupported' });
  expect(result.reason).toMatch(/801/);
});

it('is unsupported on a driver that cannot unlock', async () => {
  const sim = `region=${ownRegion('locked')},hide=cuCheckpointProcessUnlock`;
  const result = await measured({ memory: '2560MiB', interpose: QUOTA, memLimit: 'perTenantPool', sim });
  expect(result).toMatchObject({ status: 'unsupported' });
  expect(result.reason).toMatch(/^cuCheckpointProcessUnlock is not offered by this driver/);
});

it('is unsupported without a limit', async () => {
  expect(await measured({})).toMatchObject({ status: 'unsupported', reason: 'no memory limit is configured' });
});

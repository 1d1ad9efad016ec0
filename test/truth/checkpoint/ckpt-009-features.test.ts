/** CKPT-009 on the simulated card, which refuses what NVIDIA documents as refused. */
import { expect, it } from 'vitest';
import type { CheckpointFeaturesDetails } from '../../../lib/metrics/checkpoint/ckpt-009-features.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { recordsIn } from '../../native/record.js';
import { onCard } from './card.js';

const FAST = { checkpoint_fixed_us: 1_000, restore_fixed_us: 1_000 };
const rowsOf = ({ details }: MetricResult) => (details as unknown as CheckpointFeaturesDetails).rows;

it('agrees with what the driver refused', async () => {
  const { result, record } = await onCard('CKPT-009', FAST);
  expect(result).toMatchObject({ status: 'ok', value: 100 });
  const rows = rowsOf(result);
  const refused = rows.filter((row) => 'checkpoint' in row && row.restore === null);
  expect(refused.map(({ feature }) => feature)).toEqual([
    'managed memory',
    'memory exported for IPC',
    'shareable handle',
  ]);
  const count = (call: string) =>
    recordsIn(record)
      .flatMap(({ calls }) => calls)
      .filter(({ name }) => name === `cuCheckpointProcess${call}`).length;
  // Every target is locked, and unlocked after a refusal too; the guardian checkpoints those that were restored again.
  expect(count('Restore')).toBe(rows.length - refused.length);
  expect(count('Unlock')).toBe(rows.length);
});

it('has no feature that works if the contents come back changed', async () => {
  const { result } = await onCard('CKPT-009', { ...FAST, checkpoint_corrupts: 1 });
  const restored = rowsOf(result).filter((row) => 'restore' in row && row.restore === 'success');
  expect(restored.length).toBeGreaterThan(0);
  for (const row of restored) expect(row).toMatchObject({ works: false, behaves: false });
  expect(result.value).toBeLessThan(50);
});

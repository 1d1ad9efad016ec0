/** A simulated card with known times of checkpoints, for the accuracy tests of CKPT. */
import type { MetricResult } from '../../../lib/results/document.js';
import type { MeasureOptions } from '../../../lib/metrics/core/metric.js';
import { environmentUnder, measured } from '../../native/measured.js';
import { temporaryFolder } from '../../temporary.js';

export const COSTS = {
  memory_mib: 1024,
  context_mib: 100,
  checkpoint_lock_us: 5_000,
  checkpoint_fixed_us: 200_000,
  checkpoint_us_per_mib: 500,
  restore_fixed_us: 100_000,
  restore_us_per_mib: 200,
  unlock_us: 20_000,
};

export async function onCard(
  id: string,
  settings: Readonly<Record<string, number>> = {},
  options: MeasureOptions = {},
): Promise<{ result: MetricResult; record: string }> {
  const record = temporaryFolder('ckpt');
  const sim = Object.entries({ ...COSTS, ...settings })
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  return { result: await measured(id, environmentUnder(null, sim, record), options), record };
}

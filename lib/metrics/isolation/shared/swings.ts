/** When a compute limit begins to act, and how the share oscillates under it. */
import { quantileSorted } from 'simple-statistics';
import * as v from 'valibot';
import { quantity } from '../../core/details.js';
import { median } from '../../../stats/median.js';

export const swingsFields = v.strictObject({
  onsetMs: v.nullable(
    quantity('ms', 'Time until half of the intended reduction is visible for the first time; null: never'),
  ),
  periodMs: v.nullable(
    quantity('ms', 'Median time from one such fall to the next; null if there are fewer than three'),
  ),
  lowPercent: quantity('%', '5th percentile of the bins from the onset on'),
  highPercent: quantity('%', '95th percentile of the bins from the onset on'),
});

export type Swings = v.InferOutput<typeof swingsFields>;

/** `shares`: per cent of the work without a limit, bin by bin; null if empty. */
export function swingsOf(shares: readonly number[], limitPercent: number, binMs: number): Swings | null {
  if (shares.length === 0) return null;
  const fallen = (100 + limitPercent) / 2;
  // It must rise further than it fell, so that a share near the threshold is not counted at every small change.
  const risen = (100 + fallen) / 2;
  const falls: number[] = [];
  let high = true;
  for (const [i, share] of shares.entries()) {
    if (high && share < fallen) falls.push(i);
    high = high ? share >= fallen : share > risen;
  }
  const [onset] = falls;
  const periods = falls.slice(1).map((fall, i) => fall - (falls[i] as number));
  const from = [...shares.slice(onset ?? 0)].sort((a, b) => a - b);
  return {
    onsetMs: onset === undefined ? null : onset * binMs,
    periodMs: periods.length < 2 ? null : median(periods).value * binMs,
    lowPercent: quantileSorted(from, 0.05),
    highPercent: quantileSorted(from, 0.95),
  };
}

/** How long a running tenant exceeds, or falls short of, a compute limit that is changed. */
import type { Load } from '../../native/addon-types.js';
import type { MeasureContext } from '../metric.js';
import type { LimitedWorker } from '../other-limits.js';
import { NS_PER_MS } from '../units.js';
import { BACK_TO_BACK } from './load-shapes.js';
import { settling } from './settling.js';
import { type LoadTimes, rateOf, runLoad, sharesPercent } from './tenant-load.js';

export interface LiveChange {
  fromPercent: number;
  toPercent: number;
  /** From the first kernel under the new limit; null where the share did not settle in `observedMs`. */
  settledAfterMs: number | null;
  observedMs: number;
  /** From the change until the tenant worked again: it is idle while its limit is changed. */
  pauseMs: number;
  overshootSmSeconds: number;
  percent: number[];
}

export interface LiveRequest {
  fromPercent: number;
  /** Without a limit. */
  free: Load;
  times: LoadTimes;
  /** That are watched. */
  bins: number;
}

/** Clearly another one, within what a limit may be. */
export const otherLimit = (percent: number): number => (percent >= 20 ? Math.round(percent / 2) : 2 * percent);

/** Why there is nothing to measure where the layer cannot change it. The tenant has settled at its own limit. */
export async function changeLive(
  { system }: MeasureContext,
  worker: LimitedWorker,
  { fromPercent, free, times, bins }: LiveRequest,
): Promise<LiveChange | string> {
  if (!system.changeLimit) return `there is no known way to change a limit of ${system.name} while a tenant is running`;
  const toPercent = otherLimit(fromPercent);
  const refused = await system.changeLimit(worker.tenant, toPercent);
  if (refused !== null) return refused;
  const changedAtNs = worker.nowNs();
  const load = await runLoad(worker, BACK_TO_BACK, times);
  const percent = sharesPercent(load, times.binMs, rateOf(free)).slice(0, bins);
  const { afterMs, observedMs, overshootPercentSeconds } = settling({ binMs: times.binMs, percent }, toPercent);
  return {
    fromPercent,
    toPercent,
    settledAfterMs: afterMs,
    observedMs,
    pauseMs: (load.hostStartedNs - changedAtNs) / NS_PER_MS,
    overshootSmSeconds: (overshootPercentSeconds / 100) * free.multiprocessorsUsed.length,
    percent,
  };
}

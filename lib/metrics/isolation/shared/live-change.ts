/** How long a running tenant exceeds, or falls short of, a changed compute limit. */
import * as v from 'valibot';
import { quantity } from '../../core/details.js';
import type { Load } from '../../../native/addon-types.js';
import type { MeasureContext } from '../../core/metric.js';
import type { LimitedWorker } from '../../core/other-limits.js';
import { NS_PER_MS } from '../../core/units.js';
import { BACK_TO_BACK } from './load-shapes.js';
import { settling } from './settling.js';
import { type LoadTimes, rateOf, runLoad, sharesPercent } from '../tenant-load.js';

/** Schema of a change, without its series. */
export const liveChangeFields = v.strictObject({
  fromPercent: quantity('%', 'The limit before'),
  toPercent: quantity('%', 'The limit after'),
  settledAfterMs: v.nullable(
    quantity('ms', 'Time from the first kernel under the new limit; null if the share did not settle'),
  ),
  observedMs: quantity('ms', 'The latest time at which it could have settled'),
  pauseMs: quantity('ms', 'Time from the change until the tenant worked again: it idles meanwhile'),
  overshootSmSeconds: quantity('SM s', 'Excess over the new limit before it settled'),
});

export type LiveChange = v.InferOutput<typeof liveChangeFields> & { percent: number[] };

interface LiveRequest {
  fromPercent: number;
  /** The load without a limit. */
  free: Load;
  times: LoadTimes;
  /** Number of observed bins. */
  bins: number;
}

/** Clearly different, and still a valid limit. */
const otherLimit = (percent: number): number => (percent >= 20 ? Math.round(percent / 2) : 2 * percent);

/** Returns the reason if the layer cannot change the limit. The tenant must have settled at its own limit. */
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

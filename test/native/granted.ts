/** The simulated device's recorded work under the load of the limit check in `compare` and `calibrate`. */
import { sum } from 'simple-statistics';
import { COMPUTE_SHARE } from '../../lib/native/compute-share.js';
import { median } from '../../lib/stats/median.js';
import { deviceTime } from './limited.js';
import type { Recorded } from './record.js';

export interface Granted {
  launches: number;
  kernelNs: number;
  /** Busy share of the time from the first kernel's start to the last one's end. */
  busyShare: number;
  /** Busy share of each whole window of `binMs` from the first kernel's start on. */
  bins: number[];
}

const ofLoad = (recorded: Recorded) => recorded.named('cuLaunchKernel').filter(({ kernel }) => kernel === 'gvb_occupy');

export const hasLoad = (recorded: Recorded): boolean => ofLoad(recorded).length > 0;

export function grantedOf(recorded: Recorded): Granted {
  // Uses the device's clock, which stamps the kernels: by another clock the last window could be incomplete.
  const kernels = ofLoad(recorded).map(({ begins, ends }) => ({ begins: deviceTime(begins), ends: deviceTime(ends) }));
  const lengths = kernels.map(({ begins, ends }) => ends - begins);
  const origin = kernels[0]?.begins ?? 0;
  const whole = (kernels.at(-1)?.ends ?? 0) - origin;
  const binNs = 1e6 * COMPUTE_SHARE.binMs;
  const bins = Array.from({ length: Math.floor(whole / binNs) }, (_, i) => {
    const [from, to] = [origin + i * binNs, origin + (i + 1) * binNs];
    const inside = kernels.filter(({ begins, ends }) => ends > from && begins < to);
    return sum(inside.map(({ begins, ends }) => Math.min(ends, to) - Math.max(begins, from))) / binNs;
  });
  return { launches: kernels.length, kernelNs: median(lengths).value, busyShare: sum(lengths) / whole, bins };
}

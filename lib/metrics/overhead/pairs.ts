/** Summarises pairs of a function through the application's pointer and through the driver's own, over all blocks. */
import type { PairBlock } from '../../native/addon-types.js';
import { median } from '../../stats/median.js';
import { trimmed } from '../../stats/trimmed-mean.js';
import { serialMedian } from '../../stats/serial.js';
import { concat } from '../core/collect.js';
import { count, flag, interval, quantity } from '../core/details.js';
import { HOST_STEP_NS } from '../core/units.js';

/** The share of the pairs that is left out at each end of the trimmed mean: a stall of one call in fifty still counts. */
const TRIMMED = 0.01;

/** Schema of what `pairSummary` says of a call, and the same with their number. */
export const pairSummaryFields = {
  intercepted: flag("Whether the application's pointer leads elsewhere than to the driver's own function"),
  overheadNs: quantity('ns', 'Median difference of the pairs: what the layer adds to a call'),
  ci95: interval('ns', 'overheadNs'),
  trimmedNs: quantity('ns', 'Mean difference without the lowest and highest hundredth of the pairs'),
  hookedNs: quantity('ns', "Median time of a call through the application's pointer"),
  bareNs: quantity('ns', "Median time of a call of the driver's own function"),
};
export const pairFields = { ...pairSummaryFields, pairs: count('Number of pairs') };

/**
 * Medians in nanoseconds per call; the overhead is the median of the pairs' differences, not the difference of the
 * medians. A median does not see what few calls pay, so `trimmedNs` is the mean of the differences without the lowest and
 * highest hundredth.
 */
export function pairSummary(blocks: readonly PairBlock[]) {
  const hookedNs = concat(...blocks.map((block) => block.hookedNs));
  const bareNs = concat(...blocks.map((block) => block.bareNs));
  const differences = hookedNs.map((hooked, i) => hooked - (bareNs[i] as number));
  const step = HOST_STEP_NS / Math.max(...blocks.map(({ calls }) => calls));
  const { value: overheadNs, ci95 } = serialMedian(differences, { step });
  return {
    intercepted: blocks.some(({ intercepted }) => intercepted),
    overheadNs,
    ci95,
    trimmedNs: trimmed([...differences], TRIMMED),
    hookedNs: median(hookedNs).value,
    bareNs: median(bareNs).value,
    differences,
  };
}

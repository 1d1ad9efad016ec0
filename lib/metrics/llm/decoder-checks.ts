/** Checks of a decoder that no correct one fails: its tokens, and the least time of a step. */
import type { Decoding, PreparedDecoder } from '../../native/addon-types.js';
import type { Check, MetricResult } from '../../results/document.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { shown } from '../../errors/shown.js';
import { NS_PER_MS } from '../core/units.js';

/** Tolerance of ceilings: the reference of metrics allows 5 %. */
export const SLACK = 0.05;

/**
 * Requests with the same number have the same tokens and logits, whichever tenant serves them and however steps are
 * launched.
 */
export function sameTokens(digests: readonly (readonly number[])[]): Check {
  const most = Math.max(...digests.map(({ length }) => length));
  const unlike: number[] = [];
  let compared = 0;
  for (let request = 0; request < most; request++) {
    const whole = digests.flatMap((of) => (of[request] === undefined || of[request] === 0 ? [] : [of[request]]));
    if (whole.length < 2) continue;
    compared++;
    if (new Set(whole).size > 1) unlike.push(request);
  }
  return {
    name: 'tokens and logits are the same by launches and by a graph',
    passed: compared > 0 && unlike.length === 0,
    detail:
      unlike.length > 0
        ? `request ${unlike[0]} has different ones when it is served again`
        : `${compared} requests, each bit of their logits`,
  };
}

/** The least time in which a step can read the weights that the L2 cache does not hold. */
export function floorNs({ weightBytes, l2Bytes, dramCeilingGbs }: PreparedDecoder): number | null {
  if (dramCeilingGbs === 0 || l2Bytes === 0 || weightBytes < 4 * l2Bytes) return null;
  return ((weightBytes - l2Bytes) / dramCeilingGbs) * (1 - SLACK);
}

export function readsWeights(prepared: PreparedDecoder, decodings: readonly Decoding[]): Check {
  const name = 'no step is shorter than reading its weights';
  const floor = floorNs(prepared);
  if (floor === null) {
    const detail = `${formatBytes(prepared.weightBytes)} of weights against ${formatBytes(prepared.l2Bytes)} of L2 cache`;
    return { name, passed: 'not checked', detail };
  }
  const shortest = decodings.reduce((all, { tokenNs }) => tokenNs.reduce((a, b) => Math.min(a, b), all), Infinity);
  const detail = `the shortest took ${(shortest / NS_PER_MS).toPrecision(4)} ms; ${formatBytes(prepared.weightBytes)} at ${prepared.dramCeilingGbs.toPrecision(4)} GB/s take ${(floor / NS_PER_MS).toPrecision(4)} ms`;
  return { name, passed: shortest >= floor, detail };
}

export const decoderCondition = ({ workload, model }: MetricResult['details']): unknown =>
  `${shown(workload)} ${shown(model)}`;

/** Both have the same model and prompts on the same card, so different bits are an error in one of them. */
export function otherLogits(own: MetricResult, native: MetricResult): string | null {
  const same = ['seed', 'workload', 'variant', 'promptVariant', 'model'].every(
    (key) => shown(own.details[key]) === shown(native.details[key]),
  );
  if (!same || own.details.checksum === native.details.checksum) return null;
  return `the checksum of its logits is ${shown(own.details.checksum)}, and natively ${shown(native.details.checksum)}`;
}

export const checksumOf = ({ digests }: Decoding): string => (digests[0] as number).toString(16).padStart(14, '0');

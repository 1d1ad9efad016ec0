/**
 * Whether a layer's compute limit has an effect: runs a load that fills the card, and measures the share of time in
 * which it ran. The result is only a label, because some limiters need more than a minute on a large card (shared
 * method 0.7), and their effect depends on the grid.
 */
import { mean } from 'simple-statistics';
import type { ComparisonDocument, Tier } from '../../results/document.js';
import { messageOf } from '../../errors/message-of.js';
import type { ComputeShare, DeviceTarget } from '../../native/addon-types.js';
import { COMPUTE_SHARE } from '../../native/compute-share.js';
import { reapFailure } from '../../systems/process/reaped.js';
import { SOLE_TENANT, type System } from '../../systems/system.js';
import { Lane, type LaneTarget } from '../lane.js';

export type ComputeLimit = ComparisonDocument['computeLimits'][number];

/** Duration of the load: a limiter's first seconds say little. */
const SECONDS: Record<Tier, number> = { quick: 3, standard: 10, thorough: 60 };
const GRACE_MS = 60_000;

/** Measures the effect of a compute limit; null if there is none, and after an abort. */
export async function labelComputeLimit(
  system: System,
  target: LaneTarget,
  tier: Tier,
  signal: AbortSignal,
  onLeftBehind: (what: string) => void,
): Promise<ComputeLimit | null> {
  if (system.unavailable !== null) return null;
  const limitPercent = system.limits().smPercent ?? 100;
  if (limitPercent === 100 || system.capabilities.computeLimit === 'none') return null;
  const head = { system: system.name, limitPercent };
  if (system.capabilities.computeLimit !== 'softDutyCycle')
    return { ...head, ...notChecked('it limits which part of the card is used, not for how long') };
  const lane = new Lane(system, target, signal);
  try {
    await system.prepareTenant(SOLE_TENANT);
    const { attestation } = await lane.prepare();
    const reason = attestation.invalid ?? attestation.computeLimitUnsupported;
    if (reason !== undefined) return { ...head, ...notChecked(reason) };
    return { ...head, ...judged(limitPercent, await load(lane, target, SECONDS[tier], signal)) };
  } catch (error) {
    if (signal.aborted) return null;
    return { ...head, ...notChecked(messageOf(error)) };
  } finally {
    await lane.close();
    const failure = await reapFailure(system, SOLE_TENANT);
    if (failure !== null) onLeftBehind(failure);
  }
}

type Label = Omit<ComputeLimit, 'system' | 'limitPercent'>;

const notChecked = (detail: string): Label => ({
  label: 'not checked',
  achievedPercent: null,
  detail,
  binMs: COMPUTE_SHARE.binMs,
  sharesPercent: [],
});

async function load(lane: Lane, target: LaneTarget, seconds: number, signal: AbortSignal): Promise<ComputeShare> {
  const { simulatedDriver, device, path } = target;
  const on: DeviceTarget = { simulatedDriver, device: device ?? null, path };
  const params = { ...COMPUTE_SHARE, durationMs: 1_000 * seconds, on };
  const options = { deadlineMs: 1_000 * seconds + GRACE_MS, signal };
  return (await lane.ask('computeShare', params, options)) as ComputeShare;
}

/**
 * Judges by the second half of the load, after the limiter had time to settle: at least half of the intended reduction
 * must be visible.
 */
function judged(limitPercent: number, { bins, busyShare, kernelNs, launches }: ComputeShare): Label {
  const sharesPercent = bins.map((share) => Math.round(1_000 * share) / 10);
  const late = sharesPercent.slice(Math.floor(sharesPercent.length / 2));
  const achievedPercent = late.length > 0 ? mean(late) : 100 * busyShare;
  return {
    label: achievedPercent <= (100 + limitPercent) / 2 ? 'throttled' : 'not throttled',
    achievedPercent,
    detail: `${launches} kernels of ${(kernelNs / 1e6).toFixed(2)} ms, each 500 waves of blocks that fill the multiprocessors`,
    binMs: COMPUTE_SHARE.binMs,
    sharesPercent,
  };
}

/** The fixed menu of aggressors, each of which tries to take more than its share of one resource. */
import type { Aggression, AggressorKind } from '../../../native/addon-types.js';

export interface Aggressor {
  kind: AggressorKind;
  name: string;
}

export const MENU: readonly Aggressor[] = [
  { kind: 'longKernels', name: 'long kernels' },
  { kind: 'blockFill', name: 'block scheduler fill' },
  { kind: 'dramStream', name: 'DRAM streaming' },
  { kind: 'l2Thrash', name: 'L2 thrash' },
  { kind: 'tlbThrash', name: 'TLB thrash' },
  { kind: 'issueSlots', name: 'issue slots' },
  { kind: 'copyToDevice', name: 'PCIe to the device' },
  { kind: 'copyToHost', name: 'PCIe to the host' },
  { kind: 'launchStorm', name: 'launch storm' },
  { kind: 'allocStorm', name: 'allocation storm' },
  { kind: 'contextStorm', name: 'context storm' },
  { kind: 'graphStorm', name: 'graph launch storm' },
];

/** Operations per second; null if none completed. */
export function rateOf({ operations, startedNs, endedNs }: Aggression): number | null {
  return operations > 0 && endedNs > startedNs ? (operations * 1e9) / (endedNs - startedNs) : null;
}

/** Why its run says nothing about the neighbour; null if it ran. */
export function idleReason({ missing, operations }: Aggression): string | null {
  if (missing !== null) return missing;
  return operations > 0 ? null : 'none of its operations was seen to finish';
}

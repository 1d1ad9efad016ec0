/** What a worker is asked that keeps one shared resource busy. */
import type { AggressorKind } from './addon-types.js';

export interface AttackRequest {
  kind: AggressorKind;
  quotaBytes: number;
  /** Longest duration of the attack. */
  mostNs: number;
}

/** What a run says to the guardian of its checkpointed processes, and what that answers. */
import type { TargetEnd } from './end-target.js';

export type GuardNote =
  /** A process to guard from now on; `gpu`: UUID of its GPU, null: not known. */
  | { id: number; what: 'guard'; pid: number; gpu: string | null }
  /** The process is about to be restored. */
  | { id: number; what: 'restore'; pid: number }
  /** All below the keeper `pid`, of which `restored` are about to be: they belong together. */
  | { id: number; what: 'guard-tree'; pid: number; gpu: string | null; restored: readonly number[] }
  /** With all that is below it. */
  | { id: number; what: 'end'; pid: number };

export interface GuardReply extends TargetEnd {
  id: number;
}

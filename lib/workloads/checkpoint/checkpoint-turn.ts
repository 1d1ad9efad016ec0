/** What is measured when a program is checkpointed and restored. */
import type { CheckpointCall } from '../../native/addon-types.js';
import type { Reading } from '../metrics/reading.js';
import type { RunPhase } from '../program/run-phases.js';

/** Once out and in again. Times of a call are sums over the processes; of a container, of the whole command. */
export interface CheckpointTurn {
  /** Processes of the program with a GPU context. */
  processes: number;
  /** Null in a container, where it is a part of the checkpoint. */
  lockSeconds: number | null;
  checkpointSeconds: number;
  restoreSeconds: number;
  unlockSeconds: number | null;
  /** From the begin of the restore; null where no answer was asked for. */
  answerSeconds: number | null;
  /** NVML: memory of its processes before; null if not listed. */
  gpuBytes: number | null;
  /** How much of it the checkpoint gave back. */
  freedBytes: number | null;
}

export interface Checkpointed {
  turns: CheckpointTurn[];
  /** Why there were no more turns; null if all took place. */
  missing: { reason: string; status: 'failed' | 'unsupported' } | null;
  phases: RunPhase[];
  /** The call that goes on, or in which a process ended; null: none. */
  during: CheckpointCall | null;
}

/** What is said of a program that is not checkpointed at all. */
export const notCheckpointed = (reason: string): Checkpointed => ({
  turns: [],
  missing: { reason, status: 'unsupported' },
  phases: [],
  during: null,
});

/** The median over the turns of a run is the run's number. */
export function readTurns(
  { checkpointed }: { checkpointed: Checkpointed | null },
  of: (turn: CheckpointTurn) => number | null,
  without: string,
  median: (values: readonly number[]) => number,
): Reading {
  if (checkpointed?.missing) return { missing: checkpointed.missing.reason, status: checkpointed.missing.status };
  const values = (checkpointed?.turns ?? []).flatMap((turn) => of(turn) ?? []);
  if (values.length === 0) return { missing: without, status: 'unsupported' };
  return { value: median(values) };
}

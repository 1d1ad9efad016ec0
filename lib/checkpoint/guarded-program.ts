/** A program of the user that from its first restore on only its guardian ends, with all its processes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors/message-of.js';
import { type KeptProgram, type RunningProgram, STRAGGLER_MS } from '../workers/kept-program.js';
import type { CheckpointGuardian } from './checkpoint-guarding.js';

/** Who ends a program that may be restored from a checkpoint. */
export interface ProgramEnding<Program extends RunningProgram = KeptProgram> {
  end: (program: Program) => Promise<void>;
  /** Waits until all its processes have ended, and ends those that outlive the first one. */
  endStragglers: (program: Program) => Promise<void>;
  /** Why processes of the program were left alive; null if all ended. */
  readonly left: string | null;
  /** Whether it ends by SIGKILL when it is stopped. */
  readonly kills: boolean;
}

export class GuardedProgram {
  readonly #guardian: CheckpointGuardian;
  readonly #gpu: string | null;
  #isGuarded = false;
  #left: string | null = null;

  /** `gpu`: UUID of the GPU that it uses; null: not known. */
  constructor(guardian: CheckpointGuardian, gpu: string | null) {
    [this.#guardian, this.#gpu] = [guardian, gpu];
  }

  get isGuarded(): boolean {
    return this.#isGuarded;
  }

  get left(): string | null {
    return this.#left;
  }

  /** Call it before each restore. False: it is being ended, and may not be restored. */
  async noteRestore(program: KeptProgram, pids: readonly number[]): Promise<boolean> {
    await this.#guardian.guardTree(program.keeperPid as number, this.#gpu, pids);
    this.#isGuarded ||= await program.giveToGuardian();
    return this.#isGuarded;
  }

  /** Ends one that is guarded, or leaves it alive. */
  async end(program: KeptProgram): Promise<void> {
    if (program.keeperPid === null) return;
    const { ended, how } = await this.#guardian
      .end(program.keeperPid)
      .catch((error: unknown) => ({ ended: false, how: messageOf(error) }));
    if (ended) return;
    this.#left = how;
    program.abandon();
  }
}

/** Whether processes of the program outlive its first one by more than they may. */
export async function outlives({ done }: KeptProgram): Promise<boolean> {
  const over = new AbortController();
  const late = sleep(STRAGGLER_MS, true, { signal: over.signal }).catch(() => false);
  const isLate = await Promise.race([done.then(() => false), late]);
  over.abort();
  return isLate;
}

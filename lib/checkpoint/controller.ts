/**
 * A process that makes checkpoint calls on others. It stays warm between calls, because starting one attaches to the
 * driver. A call that hangs ends it, and the next call has a new one.
 */
import type { CheckpointAnswer, CheckpointCall, CheckpointRequest, Target } from '../native/addon-types.js';
import type { ProcessStart } from '../workers/launcher.js';
import { Worker } from '../workers/worker.js';

/** Settings of one call. */
interface CallLimits {
  /** After it the controller is killed. Default 120 s. */
  deadlineMs?: number;
  /** Time limit that the driver keeps for a lock. Default 10 s. */
  timeoutMs?: number;
  /** Ends the controller too. */
  signal?: AbortSignal;
}

const DEADLINE_MS = 120_000;
const LOCK_MS = 10_000;

export class Controller {
  readonly #start: ProcessStart;
  readonly #target: Target;
  #worker: Worker | null = null;

  constructor(start: ProcessStart, target: Target) {
    this.#start = start;
    this.#target = target;
  }

  /**
   * Starts the process and attaches it to the driver, so that no later call pays for that. Call it before the first target
   * starts: it rejects with FUNCTION_MISSING if the driver lacks a function without which a target could not be ended.
   */
  async warm(deadlineMs: number): Promise<void> {
    await this.call('state', process.pid, { deadlineMs });
  }

  /** Rejects with BenchError if the process did not answer in time; what became of the call is then not known. */
  async call(call: CheckpointCall, pid: number, limits: CallLimits = {}): Promise<CheckpointAnswer> {
    if (!this.#worker?.alive) this.#worker = await Worker.start({ start: this.#start });
    const { deadlineMs = DEADLINE_MS, timeoutMs = LOCK_MS, signal } = limits;
    const request = {
      ...this.#worker.targetIn(this.#target),
      path: 'runtime',
      pid,
      call,
      timeoutMs: call === 'lock' ? timeoutMs : 0,
    } satisfies CheckpointRequest;
    return (await this.#worker.request('checkpointCall', request, {
      deadlineMs,
      ...(signal && { signal }),
    })) as CheckpointAnswer;
  }

  async stop(): Promise<void> {
    await this.#worker?.stop();
  }
}

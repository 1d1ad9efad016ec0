/** The part of a run in which its program is checkpointed and restored, the same for programs here and in containers. */
import type { ProgramEnding } from '../../checkpoint/guarded-program.js';
import { BenchError } from '../../errors/bench-error.js';
import { messageOf } from '../../errors/message-of.js';
import type { MeasureContext } from '../../metrics/core/metric.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import type { RunningProgram } from '../../workers/kept-program.js';
import type { Captured } from '../program/output.js';
import { whenReady } from '../program/ready.js';
import type { CheckpointPlan } from '../workload-type.js';
import type { Checkpointed } from './checkpoint-turn.js';
import { freshLine } from './fresh-line.js';

export interface Surroundings<Program> {
  program: Program;
  outputs: readonly Captured[];
  cwd: string;
  signal: AbortSignal;
}

/** What a call said that refused it. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly status: 'failed' | 'unsupported',
  ) {
    super(message);
  }
}

export abstract class Checkpointing<Program extends RunningProgram> implements ProgramEnding<Program> {
  readonly done: Checkpointed = { turns: [], missing: null, phases: [], during: null };
  protected readonly plan: CheckpointPlan;
  protected readonly context: MeasureContext;
  protected work: Promise<void> = Promise.resolve();
  #ending: Promise<void> | null = null;
  #isOut = false;

  constructor(plan: CheckpointPlan, context: MeasureContext) {
    [this.plan, this.context] = [plan, context];
  }

  abstract readonly left: string | null;
  abstract readonly kills: boolean;
  protected abstract turns(surroundings: Surroundings<Program>): Promise<void>;
  protected abstract ended(program: Program): Promise<void>;
  abstract endStragglers(program: Program): Promise<void>;
  /** Ends what is left, and says what could not be ended. */
  abstract close(): Promise<void>;

  /** Whether it stayed checkpointed or locked, so that it cannot go on. */
  get isOut(): boolean {
    return this.#isOut;
  }

  protected set isOut(isOut: boolean) {
    this.#isOut = isOut;
  }

  /** Rejects only with the reason of the signal. */
  async run(surroundings: Surroundings<Program>): Promise<void> {
    const work = this.turns(surroundings).catch((error: unknown) => {
      if (surroundings.signal.aborted) return;
      const isMissing = error instanceof BenchError && error.code === 'FUNCTION_MISSING';
      const status = error instanceof Refusal ? error.status : isMissing ? 'unsupported' : 'failed';
      this.done.missing = { reason: messageOf(error), status };
    });
    this.work = work;
    await work;
    surroundings.signal.throwIfAborted();
  }

  /** Ends the program, by its guardian if it was ever restored. A call that goes on is waited for. */
  end(program: Program): Promise<void> {
    return (this.#ending ??= this.ended(program));
  }

  /** Waits for the first answer, of which nothing counts that came before the call. */
  protected answer({ outputs, cwd, signal }: Surroundings<Program>): () => Promise<number | null> {
    const { answer } = this.plan;
    if (answer === null) return () => Promise.resolve(null);
    if (answer.by === 'line') {
      const seen = freshLine(answer.text, outputs, signal);
      seen.catch(() => undefined); // whoever waits for it sees it
      return () => seen;
    }
    return () => whenReady(answer, { cwd, outputs, signal });
  }

  /** Null if NVML lists none of them. */
  protected async gpuBytes(pids: readonly number[]): Promise<number | null> {
    const all = await Promise.all(pids.map((pid) => this.context.truth?.processMemory(pid) ?? null));
    const known = all.filter((bytes) => bytes !== null);
    return known.length === 0 ? null : known.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** A restore that finds no room fails for ever. */
  protected async mustFit(bytes: number): Promise<void> {
    const free = (await this.context.truth?.cardMemory())?.freeBytes ?? Infinity;
    if (free < bytes)
      throw new Refusal(
        `it was not restored: it needs ${formatBytes(bytes)} of the GPU, of which others left ${formatBytes(free)}`,
        'failed',
      );
  }
}

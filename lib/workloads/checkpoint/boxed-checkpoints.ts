/**
 * Checkpoints a program in a container of podman, and restores it: CRIU moves all its processes, and by its plugin for CUDA their
 * GPU state. The commands are run by the guardian of the containers. From the first restore on only a checkpoint ends it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openFilesOf } from '../../environment/process-tree.js';
import type { MeasureContext } from '../../metrics/core/metric.js';
import type { ContainerProgram, Kept } from '../../workers/container/container-program.js';
import type { LaunchOptions, RestorableStart } from '../../workers/launcher.js';
import type { CheckpointPlan } from '../workload-type.js';
import { Checkpointing, Refusal, type Surroundings } from './checkpointing.js';

const NS_PER_S = 1e9;

/** Without the plugin for CUDA, CRIU refuses a process that has such a file open. */
const holdsGpu = (pid: number): boolean => openFilesOf(pid).some((path) => path.startsWith('/dev/nvidia'));

const secondsOf = ({ fromNs, toNs }: Kept): number => (toNs - fromNs) / NS_PER_S;

export class BoxedCheckpoints extends Checkpointing<ContainerProgram> {
  readonly #start: RestorableStart;
  #mayBeRestored = false;
  #left: string | null = null;

  constructor(plan: CheckpointPlan, context: MeasureContext, start: RestorableStart) {
    super(plan, context);
    this.#start = start;
  }

  start(command: readonly string[], options: LaunchOptions): ContainerProgram {
    return this.#start.start(command, options);
  }

  get left(): string | null {
    return this.#left;
  }

  /** It may have to be killed in any case: the first process of a PID namespace gets no SIGTERM that it does not handle. */
  readonly kills = true;

  /** A container ends with its first process. */
  async endStragglers(): Promise<void> {}

  /** The system removes its containers. */
  async close(): Promise<void> {}

  protected async ended(program: ContainerProgram): Promise<void> {
    if (!this.#mayBeRestored) program.stop();
    await this.work;
    if (!this.#mayBeRestored && !this.isOut) return;
    const left = await program.remove();
    if (this.#mayBeRestored) this.#left = left;
  }

  protected async turns(surroundings: Surroundings<ContainerProgram>): Promise<void> {
    for (let n = 0; n < this.plan.repeat; n++) await this.#turn(surroundings);
  }

  async #turn(surroundings: Surroundings<ContainerProgram>): Promise<void> {
    const { program, signal } = surroundings;
    const pids = program.pids();
    const users = pids.filter(holdsGpu);
    const refusal = users.length > 0 ? await this.#start.gpuRefusal() : null;
    if (refusal !== null) throw new Refusal(refusal, 'unsupported');
    const gpuBytes = await this.gpuBytes(pids);
    signal.throwIfAborted();
    const out = await program.checkpoint();
    if (out.failure !== null) throw new Refusal(`podman container checkpoint failed: ${out.failure}`, 'failed');
    this.isOut = true;
    const freedBytes = gpuBytes === null ? null : gpuBytes - ((await this.gpuBytes(pids)) ?? 0);
    await sleep(1_000 * this.plan.holdSeconds, undefined, { signal });
    await this.mustFit(freedBytes ?? 0);
    signal.throwIfAborted();
    const answered = this.answer(surroundings)();
    answered.catch(() => undefined); // whoever waits for it sees it
    this.#mayBeRestored = true;
    const back = await program.restore();
    if (back.failure !== null) throw new Refusal(`podman container restore failed: ${back.failure}`, 'failed');
    this.isOut = false;
    const answerNs = await answered;
    this.done.phases.push(
      { name: 'checkpoint', fromNs: out.fromNs, toNs: out.toNs },
      { name: 'checkpointed', fromNs: out.toNs, toNs: back.fromNs },
      { name: 'restore', fromNs: back.fromNs, toNs: back.toNs },
    );
    this.done.turns.push({
      processes: users.length,
      lockSeconds: null,
      checkpointSeconds: secondsOf(out),
      restoreSeconds: secondsOf(back),
      unlockSeconds: null,
      answerSeconds: answerNs === null ? null : (answerNs - back.fromNs) / NS_PER_S,
      gpuBytes,
      freedBytes,
    });
  }
}

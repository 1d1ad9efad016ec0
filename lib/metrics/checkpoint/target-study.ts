/**
 * Processes that hold GPU memory and are checkpointed and restored, for the CKPT metrics. Method: the driver's
 * cuCheckpointProcess functions, called by a warm process of its own.
 */
import { CheckpointGuardian } from '../../checkpoint/checkpoint-guarding.js';
import { Controller } from '../../checkpoint/controller.js';
import { endingInCall } from '../../checkpoint/ending-in-call.js';
import { guardedBy } from '../../checkpoint/guarded-launcher.js';
import { CHECKPOINTED, LOCKED, RUNNING, stateName } from '../../checkpoint/states.js';
import { keptBytes } from '../../environment/process-tree.js';
import { BenchError } from '../../errors/bench-error.js';
import { UTILITY } from '../../checkpoint/utility-name.js';
import type { CheckpointAnswer, CheckpointCall, CheckpointHold, CheckpointVerified } from '../../native/addon-types.js';
import { isInstance } from '../../results/cards.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { loaderPath } from '../../systems/process/loader-path.js';
import { SOLE_TENANT } from '../../systems/system.js';
import type { Launcher, ProcessStart } from '../../workers/launcher.js';
import { Worker } from '../../workers/worker.js';
import type { MeasureContext } from '../core/metric.js';
import { GIB, NS_PER_MS } from '../core/units.js';
import { nativeStart } from '../tenants/native-start.js';
import { FIRST_ID, inScene, type MetricScene, targetOf } from '../tenants/scene.js';
import { type UtilityCall, utilityIn } from './utility.js';

/** Allocations of each target. */
export const ALLOCATIONS = 4;

/** A call that succeeded, and when it was made and answered, in ns of the addon's `now`. */
interface Called extends Pick<CheckpointAnswer, 'tookNs'> {
  fromNs: number;
  toNs: number;
}

export type Move = Record<UtilityCall, Called>;

/** What makes the calls of a move: the controller, or the cuda-checkpoint program. */
export type Caller = (call: UtilityCall, worker: Worker, bytes: number) => Promise<Called>;

/** What a target is after each call. */
const AFTER = { lock: LOCKED, checkpoint: CHECKPOINTED, restore: LOCKED, unlock: RUNNING } as const;

export interface Turn {
  move: Move;
  lockMs: number;
  checkpointMs: number;
  restoreMs: number;
  unlockMs: number;
  /** From the verification's call after the unlock to the first result that the host saw. */
  firstResultMs: number;
  /** Growth of what the host keeps of the target's memory by the checkpoint; null: not known. */
  hostBytes: number | null;
  /** NVML: memory of the card in use; null: not known. */
  usedBytes: { before: number | null; checkpointed: number | null };
  /** NVML: memory of the target's process; null: not listed. */
  processBytes: { before: number | null; checkpointed: number | null };
  verified: CheckpointVerified;
}
export const ms = ({ tookNs }: Pick<CheckpointAnswer, 'tookNs'>): number => tookNs / NS_PER_MS;

/** Why nothing can be measured here, by call and code. */
const REFUSALS: Readonly<Record<string, string>> = {
  'lock 304': 'this process may not control others; doctor says what to change',
  'lock 800': 'this process may not control others; doctor says what to change',
  'lock 801': 'the driver does not checkpoint such a process',
  'checkpoint 801': 'the driver does not checkpoint such a process',
};

/** The same where the GPU is a MIG instance; on a whole card the host has too little memory. Source: cuda-checkpoint issue 42. */
const ON_INSTANCES: Readonly<Record<string, string>> = {
  'checkpoint 2': 'the driver checkpoints no process on a MIG instance',
};

/** Why a call did not succeed: FUNCTION_MISSING if the driver refuses what it does not support or allow. */
async function refusalOf(
  call: CheckpointCall,
  worker: Worker,
  { code, name }: CheckpointAnswer,
  isOnInstance: boolean,
): Promise<BenchError> {
  const text = `${call} of a process returned ${name} (${code})`;
  const ending = await endingInCall(worker);
  if (ending) return new BenchError('INVALID_RESULT', `${text}: the process ${ending.how} in this call.`);
  const refusal = REFUSALS[`${call} ${code}`] ?? (isOnInstance ? ON_INSTANCES[`${call} ${code}`] : undefined);
  return refusal === undefined
    ? new BenchError('INVALID_RESULT', `${text}.`)
    : new BenchError('FUNCTION_MISSING', `${text}: ${refusal}.`);
}

export class TargetStudy {
  readonly #context: MeasureContext;
  readonly #start: ProcessStart;
  readonly #launcher: Launcher;
  readonly #guardian: CheckpointGuardian;
  readonly controller: Controller;

  /** The guardian and the controller talk to the driver itself, whatever the system. */
  constructor(context: MeasureContext, start: ProcessStart) {
    const target = { simulatedDriver: context.simulatedDriver };
    const native = nativeStart(context);
    this.#context = context;
    this.#guardian = new CheckpointGuardian(target, native.environment);
    this.controller = new Controller(native, target);
    this.#launcher = guardedBy(this.#guardian, context.card?.uuid ?? null);
    this.#start = start;
  }

  get #isOnInstance(): boolean {
    const { card } = this.#context;
    return card !== null && isInstance(card.uuid);
  }

  /** A target that holds so many bytes and has not been locked yet. `start`: that of another tenant. */
  async hold(bytes: number, start = this.#start): Promise<Worker> {
    const { signal } = this.#context;
    const worker = await Worker.start({ start: { ...start, launcher: this.#launcher }, signal });
    try {
      const deadlineMs = deadlineFor(bytes);
      await worker.request('enter', worker.targetIn(targetOf(this.#context)), { deadlineMs, signal });
      await this.holdInstead(worker, bytes);
      await this.#context.prove(worker, SOLE_TENANT);
      return worker;
    } catch (error) {
      await worker.kill();
      throw error;
    }
  }

  /** So many bytes in place of what the target holds. */
  async holdInstead(worker: Worker, bytes: number): Promise<void> {
    const { signal } = this.#context;
    const limits = { deadlineMs: deadlineFor(bytes), signal };
    const held = await worker.request('checkpointHold', { bytes, allocations: ALLOCATIONS }, limits);
    if ((held as CheckpointHold).bytes !== bytes)
      throw new BenchError('INVALID_RESULT', `The target holds ${(held as CheckpointHold).bytes} of ${bytes} bytes.`);
  }

  /** Rejects if the driver refuses. */
  async call(call: CheckpointCall, worker: Worker, bytes: number): Promise<Called> {
    const answer = await this.answer(call, worker, bytes);
    if (answer.code !== 0) throw await refusalOf(call, worker, answer, this.#isOnInstance);
    const { calledNs, tookNs } = answer;
    return { tookNs, fromNs: calledNs, toNs: calledNs + tookNs };
  }

  /** Makes calls by the cuda-checkpoint program, outside every layer; null where PATH has none. */
  async utility(): Promise<Caller | null> {
    const { simulatedDriver } = this.#context;
    const { environment } = nativeStart(this.#context);
    const utility = utilityIn({
      ...environment,
      ...(simulatedDriver !== null && { LD_LIBRARY_PATH: await loaderPath(simulatedDriver) }),
    });
    if (utility === null) return null;
    return async (call, { pid }, bytes) => {
      await this.#beforeCall(call, pid);
      const { failure, fromNs, toNs } = await utility(call, pid, deadlineFor(bytes));
      // What a program says of itself is no proof.
      const { state } = await this.controller.call('state', pid, { deadlineMs: deadlineFor(0) });
      if (failure !== null || state !== AFTER[call])
        throw new BenchError(
          'INVALID_RESULT',
          `${UTILITY} --action ${call} ${failure ?? `succeeded, but the process is ${stateName(state ?? -1)}`}.`,
        );
      return { tookNs: toNs - fromNs, fromNs, toNs };
    };
  }

  /**
   * What the driver answers, a refusal too. Only a lock can be given up in the middle: what became of another call would
   * not be known.
   */
  async answer(call: CheckpointCall, { pid }: Worker, bytes: number): Promise<CheckpointAnswer> {
    const { signal } = this.#context;
    await this.#beforeCall(call, pid);
    return this.controller.call(call, pid, { deadlineMs: deadlineFor(bytes), ...(call === 'lock' && { signal }) });
  }

  /** Whoever makes the call: the guardian knows of every restore before it is asked for. */
  async #beforeCall(call: CheckpointCall, pid: number): Promise<void> {
    this.#context.signal.throwIfAborted();
    if (call === 'restore') await this.#guardian.noteRestore(pid);
  }

  /** There and back. `away`: called while the memory is in the host. */
  async move(worker: Worker, bytes: number, away?: () => Promise<void>, caller?: Caller): Promise<Move> {
    const by = caller ?? ((call) => this.call(call, worker, bytes));
    const lock = await by('lock', worker, bytes);
    const checkpoint = await by('checkpoint', worker, bytes);
    await away?.();
    const restore = await by('restore', worker, bytes);
    const unlock = await by('unlock', worker, bytes);
    return { lock, checkpoint, restore, unlock };
  }

  verify(worker: Worker, bytes: number): Promise<CheckpointVerified> {
    const limits = { deadlineMs: deadlineFor(bytes) };
    return worker.request('checkpointVerify', {}, limits) as Promise<CheckpointVerified>;
  }

  async turn(worker: Worker, bytes: number): Promise<Turn> {
    const before = await this.#look(worker.pid);
    let after = before;
    const move = await this.move(worker, bytes, async () => {
      after = await this.#look(worker.pid);
      // Such a process is left alive, and would take the room of the next.
      if (before.processBytes !== null && after.processBytes !== null)
        throw new BenchError(
          'INVALID_RESULT',
          `A checkpoint reported success, but NVML still lists the process, with ${formatBytes(after.processBytes)}.`,
        );
    });
    const verified = await this.verify(worker, bytes);
    return {
      move,
      lockMs: ms(move.lock),
      checkpointMs: ms(move.checkpoint),
      restoreMs: ms(move.restore),
      unlockMs: ms(move.unlock),
      firstResultMs: verified.firstResultNs / NS_PER_MS,
      hostBytes: after.hostBytes === null || before.hostBytes === null ? null : after.hostBytes - before.hostBytes,
      usedBytes: { before: before.usedBytes, checkpointed: after.usedBytes },
      processBytes: { before: before.processBytes, checkpointed: after.processBytes },
      verified,
    };
  }

  async #look(pid: number) {
    const { truth } = this.#context;
    return {
      hostBytes: keptBytes(pid),
      usedBytes: (await truth?.cardMemory())?.usedBytes ?? null,
      processBytes: (await truth?.processMemory(pid)) ?? null,
    };
  }

  /** Ends what is left, and says what could not be ended. */
  async close(): Promise<void> {
    await this.controller.stop();
    for (const left of await this.#guardian.close()) this.#context.leftBehind(left);
  }
}

/** Far above what a call takes: 2 s for each GiB have been seen on a busy host. */
export const deadlineFor = (bytes: number): number => 60_000 + (20_000 * bytes) / GIB;

/**
 * Rejects before the first target if the driver lacks what a turn needs. When this settles, every target has ended, or the
 * result says which has not. The targets' tenant is the first of the scene; neighbours are others.
 */
export async function inStudy<T>(
  context: MeasureContext,
  use: (study: TargetStudy, scene: MetricScene) => Promise<T>,
): Promise<T> {
  return inScene(context, async (scene) => {
    const start = await scene.startOf({ id: FIRST_ID });
    if (start.launcher.name !== 'local')
      throw new BenchError('FUNCTION_MISSING', 'Processes in containers are not checkpointed by this metric.');
    const study = new TargetStudy(context, start);
    try {
      await study.controller.warm(deadlineFor(0));
      return await use(study, scene);
    } finally {
      await study.close();
    }
  });
}

/** Whether all that a target holds is as before. */
export const allHold = ({ checksums, addresses, graph, stream, event }: CheckpointVerified): boolean =>
  checksums && addresses && graph && stream && event;

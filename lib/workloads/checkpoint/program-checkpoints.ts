/**
 * Checkpoints a running program and restores it: all its processes with a GPU context are locked before any is
 * checkpointed, and all restored before any is unlocked. From the first restore on only the guardian ends it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CheckpointGuardian } from '../../checkpoint/checkpoint-guarding.js';
import { Controller } from '../../checkpoint/controller.js';
import { GuardedProgram, outlives } from '../../checkpoint/guarded-program.js';
import { CHECKPOINTED, RUNNING, stateName } from '../../checkpoint/states.js';
import { hasEnded, processesBelow } from '../../environment/process-tree.js';
import type { MeasureContext } from '../../metrics/core/metric.js';
import { nativeStart } from '../../metrics/tenants/native-start.js';
import type { CheckpointAnswer, CheckpointCall } from '../../native/addon-types.js';
import type { KeptProgram } from '../../workers/kept-program.js';
import type { CheckpointPlan } from '../workload-type.js';
import type { CheckpointTurn } from './checkpoint-turn.js';
import { Checkpointing, Refusal, type Surroundings } from './checkpointing.js';

/** Within this, the end of a process that a call has killed is known. */
const END_MS = 1_500;
const WARM_MS = 60_000;
const NS_PER_S = 1e9;

const nowNs = (): number => Number(process.hrtime.bigint());
const NOT_HERE = ': the driver does not checkpoint such a process (docs/exec.md has what it refuses)';

export class ProgramCheckpoints extends Checkpointing<KeptProgram> {
  readonly #guardian: CheckpointGuardian;
  readonly #controller: Controller;
  readonly #guarded: GuardedProgram;

  /** The guardian and the controller talk to the driver itself, whatever the system. */
  constructor(plan: CheckpointPlan, context: MeasureContext) {
    super(plan, context);
    const target = { simulatedDriver: context.simulatedDriver };
    const native = nativeStart(context);
    this.#guardian = new CheckpointGuardian(target, native.environment);
    this.#controller = new Controller(native, target);
    this.#guarded = new GuardedProgram(this.#guardian, context.card?.uuid ?? null);
  }

  get left(): string | null {
    return this.#guarded.left;
  }

  get kills(): boolean {
    return this.#guarded.isGuarded;
  }

  async endStragglers(program: KeptProgram): Promise<void> {
    if (this.#guarded.isGuarded && (await outlives(program))) await this.end(program);
  }

  async close(): Promise<void> {
    await this.#controller.stop();
    for (const left of await this.#guardian.close()) this.context.leftBehind(left);
  }

  protected async ended(program: KeptProgram): Promise<void> {
    if (!this.#guarded.isGuarded) program.stop();
    await this.work;
    if (this.#guarded.isGuarded) await this.#guarded.end(program);
  }

  protected async turns(surroundings: Surroundings<KeptProgram>): Promise<void> {
    await this.#controller.warm(WARM_MS);
    for (let n = 0; n < this.plan.repeat; n++) await this.#turn(surroundings);
  }

  async #turn(surroundings: Surroundings<KeptProgram>): Promise<void> {
    const { program, signal } = surroundings;
    const keeper = program.keeperPid as number;
    const pids = await this.#gpuProcesses(keeper);
    if (pids.length === 0)
      throw new Refusal(
        'no process of the program had a GPU context when it was ready: let `ready` be what it does after its first work on the GPU',
        'failed',
      );
    const gpuBytes = await this.gpuBytes(pids);
    signal.throwIfAborted();
    const lockNs = nowNs();
    const lockSeconds = await this.#all('lock', pids);
    const checkpointSeconds = await this.#all('checkpoint', pids).catch(async (error: unknown) => {
      // It was never restored, or is as it was before: it may go on.
      for (const pid of pids) await this.#controller.call('unlock', pid).catch(() => undefined);
      throw error;
    });
    const outNs = nowNs();
    this.isOut = true;
    await this.#expect(CHECKPOINTED, pids);
    const restBytes = await this.gpuBytes(pids);
    await sleep(1_000 * this.plan.holdSeconds, undefined, { signal });
    await this.mustFit(gpuBytes === null ? 0 : gpuBytes - (restBytes ?? 0));
    signal.throwIfAborted();
    if (!(await this.#guarded.noteRestore(program, pids)))
      throw new Refusal('it was not restored: it is being ended', 'failed');
    const restoreNs = nowNs();
    const restoreSeconds = await this.#all('restore', pids);
    const answered = this.answer(surroundings);
    const unlockSeconds = await this.#all('unlock', pids);
    const inNs = nowNs();
    await this.#expect(RUNNING, pids);
    this.isOut = false;
    const answerNs = await answered();
    this.done.phases.push(
      { name: 'checkpoint', fromNs: lockNs, toNs: outNs },
      { name: 'checkpointed', fromNs: outNs, toNs: restoreNs },
      { name: 'restore', fromNs: restoreNs, toNs: inNs },
    );
    this.done.turns.push({
      processes: pids.length,
      lockSeconds,
      checkpointSeconds,
      restoreSeconds,
      unlockSeconds,
      answerSeconds: answerNs === null ? null : (answerNs - restoreNs) / NS_PER_S,
      gpuBytes,
      freedBytes: gpuBytes === null ? null : gpuBytes - (restBytes ?? 0),
    } satisfies CheckpointTurn);
  }

  /** Processes that have a context: a restore thread tells them from those that only loaded the driver. */
  async #gpuProcesses(keeper: number): Promise<number[]> {
    const found: number[] = [];
    for (const pid of processesBelow(keeper))
      if ((await this.#controller.call('restore-thread', pid)).code === 0) found.push(pid);
    return found;
  }

  /** The sum of the call's times over the processes. */
  async #all(call: CheckpointCall, pids: readonly number[]): Promise<number> {
    let ns = 0;
    for (const pid of pids) {
      this.done.during = call;
      const answer = await this.#controller.call(call, pid).catch((error: unknown) => {
        this.done.during = null;
        throw error;
      });
      if (answer.code !== 0) throw await this.#refusal(call, pid, answer);
      ns += answer.tookNs;
    }
    this.done.during = null;
    return ns / NS_PER_S;
  }

  async #refusal(call: CheckpointCall, pid: number, { name, code }: CheckpointAnswer): Promise<Refusal> {
    const said = `${call} of process ${pid} returned ${name} (${code})`;
    if (code === 801) {
      this.done.during = null;
      return new Refusal(said + NOT_HERE, 'unsupported');
    }
    if (await endsSoon(pid)) return new Refusal(`process ${pid} ended in its ${call}: ${said}`, 'failed');
    this.done.during = null;
    return new Refusal(said, 'failed');
  }

  async #expect(expected: number, pids: readonly number[]): Promise<void> {
    for (const pid of pids) {
      const { code, name, state } = await this.#controller.call('state', pid);
      if (state === expected) continue;
      const found = state === null ? `its state is not known: ${name} (${code})` : `it is ${stateName(state)}`;
      throw new Refusal(`process ${pid} should be ${stateName(expected)}, and ${found}`, 'failed');
    }
  }
}

async function endsSoon(pid: number): Promise<boolean> {
  for (const until = Date.now() + END_MS; Date.now() < until; await sleep(20)) if (hasEnded(pid)) return true;
  return false;
}

/**
 * The worker for metrics that can share a process. A worker that dies fails its current metric; the next metric gets a
 * new worker. Each worker is proven before and after it measures: a failed proof withdraws its numbers.
 */
import type { ApplicationPath, MetricResult } from '../results/document.js';
import { messageOf } from '../errors/message-of.js';
import { withCheckedDetails } from '../metrics/core/checked-details.js';
import type { MeasureOptions, MetricDefinition, Progress } from '../metrics/core/metric.js';
import type { DeviceTarget, Target } from '../native/addon-types.js';
import { BenchError } from '../errors/bench-error.js';
import type { Attested } from '../systems/proof/attest-worker.js';
import { isProven, ProcessProofs } from '../systems/proof/process-proofs.js';
import { type Attestation, type Evidence, SOLE_TENANT, startOf, type System } from '../systems/system.js';
import { type RequestOptions, Worker, type WorkerOptions } from '../workers/worker.js';

export type Prepared = Attested;

/** Options of a measurement that are sent to the worker as plain data. */
export type WireOptions = Omit<MeasureOptions, 'signal' | 'onProgress'>;

interface LaneRequest {
  options: WireOptions;
  /** Whether only the value is wanted. Default false. */
  headlineOnly?: boolean;
  deadlineMs: number;
  onProgress: (progress: Progress) => void;
}

/** What the workers of a lane measure. */
export interface LaneTarget extends Target {
  /** NVML index or UUID; undefined for the first visible GPU. */
  device: string | undefined;
  path: ApplicationPath;
  /** Timeouts of the lane's workers until they can measure, and who is told what they wait for. */
  patience?: Pick<WorkerOptions, 'patienceMs' | 'onWaiting'>;
}

interface LaneHooks {
  /** The output of a worker and the layer in it, once the worker has ended. */
  onLog?: ((text: string) => void) | undefined;
  onFailedProof?: ((reason: string) => void) | undefined;
}

interface Living {
  worker: Worker;
  before: Attestation;
  /** Ids of the metrics that the worker measured since its last check. */
  measured: string[];
  /** Ids of the metrics among them that gave a number. */
  numbers: string[];
}

export class Lane {
  /** Covers the workers, and the processes that metrics of the same round start. */
  readonly proofs: ProcessProofs;
  readonly #system: System;
  readonly #target: LaneTarget;
  readonly #signal: AbortSignal;
  readonly #onLog: (text: string) => void;
  readonly #takenBack = new Map<string, string>();
  readonly #notSeenAgain: string[] = [];
  #living: Living | null = null;

  constructor(system: System, target: LaneTarget, signal: AbortSignal, hooks: LaneHooks = {}) {
    this.proofs = new ProcessProofs(system, hooks.onFailedProof);
    this.#system = system;
    this.#target = target;
    this.#signal = signal;
    this.#onLog = hooks.onLog ?? (() => {});
  }

  /** Starts the first worker and returns its attestation, even if it is not under the system. */
  prepare(): Promise<Prepared> {
    return this.#start();
  }

  /** Why numbers were withdrawn, by metric id: their worker was not under the system after measuring. */
  get takenBack(): ReadonlyMap<string, string> {
    return this.#takenBack;
  }

  /** Why workers whose numbers are kept could not be checked after they measured. */
  get notSeenAgain(): readonly string[] {
    return this.#notSeenAgain;
  }

  /** Checks once more after all measurements: a server may have died, or a layer may have been lost. */
  async lookAgain(): Promise<Attestation> {
    const living = this.#alive;
    if (!living) return (await this.#start()).attestation;
    try {
      const after = (await this.#attest(living.worker, 'after')).attestation;
      this.#countIn(living, after);
      return after;
    } catch (error) {
      this.#countIn(living, null);
      throw error;
    }
  }

  async measure(definition: MetricDefinition, request: LaneRequest): Promise<MetricResult> {
    const living = await this.#ready();
    try {
      const answer = (await living.worker.request(
        'measure',
        { id: definition.id, options: request.options, headlineOnly: request.headlineOnly ?? false },
        {
          deadlineMs: request.deadlineMs,
          signal: this.#signal,
          onProgress: (value) => request.onProgress(value as Progress),
        },
      )) as MetricResult;
      const result = withCheckedDetails(definition, answer);
      living.measured.push(definition.id);
      if (result.value !== null) living.numbers.push(definition.id);
      // A failure may have poisoned the context for every later call.
      if (result.status === 'failed') await this.close();
      return result;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Sends a request other than a measurement. */
  async ask(method: string, params: unknown, options: RequestOptions): Promise<unknown> {
    return (await this.#ready()).worker.request(method, params, options);
  }

  /** Checks the worker a last time, which settles its measurements. */
  async close(): Promise<void> {
    const living = this.#living;
    this.#living = null;
    if (!living) return;
    const { worker, measured } = living;
    if (measured.length > 0) await this.#settle(living);
    if (worker.alive) await worker.stop();
    if (worker.log !== '') this.#onLog(worker.log);
  }

  async #settle(living: Living): Promise<void> {
    const { worker, before, measured } = living;
    if (this.#signal.aborted) return this.#countIn(living, before);
    if (!worker.alive) return this.#leaveUnseen(living, 'it had ended');
    try {
      const { attestation } = await this.#attest(worker, 'after');
      const { invalid } = attestation;
      if (invalid !== undefined)
        for (const id of measured)
          this.#takenBack.set(id, `${invalid} (after measuring, in the worker that measured it)`);
      this.#countIn(living, attestation);
    } catch (error) {
      this.#leaveUnseen(living, messageOf(error));
    }
  }

  #leaveUnseen(living: Living, reason: string): void {
    const { numbers } = living;
    if (numbers.length > 0)
      this.#notSeenAgain.push(`a worker could not be checked after it measured ${numbers.join(', ')}: ${reason}`);
    this.#countIn(living, null);
  }

  /** Counts a checked worker among the proofs. `last` is null if it could not be checked again. */
  #countIn(living: Living, last: Attestation | null): void {
    if (living.measured.length > 0) this.proofs.count(isProven(living.before) && last !== null && isProven(last));
    living.measured = [];
    living.numbers = [];
  }

  async #ready(): Promise<Living> {
    const living = this.#alive;
    if (living) return living;
    const { attestation } = await this.#start();
    if (attestation.invalid === undefined && this.#living) return this.#living;
    await this.close();
    throw new BenchError('INVALID_RESULT', `${attestation.invalid} (in a worker that was started later)`);
  }

  get #alive(): Living | null {
    return this.#living?.worker.alive ? this.#living : null;
  }

  async #start(): Promise<Prepared> {
    await this.close();
    const worker = await Worker.start({
      start: startOf(this.#system),
      signal: this.#signal,
      ...this.#target.patience,
    });
    try {
      const prepared = await this.#attest(worker, 'before');
      this.#living = { worker, before: prepared.attestation, measured: [], numbers: [] };
      return prepared;
    } catch (error) {
      await worker.stop();
      if (worker.log !== '') this.#onLog(worker.log);
      throw error;
    }
  }

  #attest(worker: Worker, phase: Evidence['phase']): Promise<Prepared> {
    const { simulatedDriver, device, path } = this.#target;
    const target: DeviceTarget = { simulatedDriver, device: device ?? null, path };
    return this.proofs.attest(worker, { phase, tenant: SOLE_TENANT, target, signal: this.#signal });
  }
}

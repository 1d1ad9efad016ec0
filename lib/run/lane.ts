/**
 * The worker that measures what may share a process. A worker that dies takes its metric with it; the next metric
 * gets a new one, which must be shown to be under the same layer as the first.
 */
import type { ApplicationPath, MetricResult } from '../document.js';
import type { MeasureOptions, MetricDefinition, Progress } from '../metrics/metric.js';
import type { DeviceTarget, Target } from '../native/addon-types.js';
import { BenchError } from '../native/errors.js';
import { type Attested, attestWorker } from '../systems/attest-worker.js';
import { type Attestation, type Evidence, SOLE_TENANT, type System } from '../systems/system.js';
import { type RequestOptions, Worker } from '../workers/worker.js';

export type Prepared = Attested;

/** What crosses to the worker: plain data. */
export type WireOptions = Omit<MeasureOptions, 'signal' | 'onProgress'>;

export interface LaneRequest {
  options: WireOptions;
  deadlineMs: number;
  onProgress: (progress: Progress) => void;
}

/** What the workers of a lane measure with. */
export interface LaneTarget extends Target {
  /** NVML index or UUID; undefined for the first visible GPU. */
  device: string | undefined;
  path: ApplicationPath;
}

export class Lane {
  readonly #system: System;
  readonly #target: LaneTarget;
  readonly #signal: AbortSignal;
  readonly #onLog: (text: string) => void;
  #worker: Worker | null = null;
  #first: Prepared | null = null;

  /** `onLog` gets what a worker and the layer in it printed, when the worker has ended. */
  constructor(system: System, target: LaneTarget, signal: AbortSignal, onLog: (text: string) => void = () => {}) {
    this.#system = system;
    this.#target = target;
    this.#signal = signal;
    this.#onLog = onLog;
  }

  /** Starts the first worker and says what it is under. */
  async prepare(): Promise<Prepared> {
    await this.#ready();
    return this.#first as Prepared;
  }

  /** Looks once more, when all is measured: a server may have died, a layer may have been lost. */
  async lookAgain(): Promise<Attestation> {
    const worker = await this.#ready();
    return (await this.#attest(worker, 'after')).attestation;
  }

  async measure(definition: MetricDefinition, request: LaneRequest): Promise<MetricResult> {
    const worker = await this.#ready();
    try {
      const result = (await worker.request(
        'measure',
        { id: definition.id, options: request.options },
        {
          deadlineMs: request.deadlineMs,
          signal: this.#signal,
          onProgress: (value) => request.onProgress(value as Progress),
        },
      )) as MetricResult;
      // What failed once may have poisoned the context for every later call.
      if (result.status === 'failed') await this.close();
      return result;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** A request of another kind than a measurement. */
  async ask(method: string, params: unknown, options: RequestOptions): Promise<unknown> {
    return (await this.#ready()).request(method, params, options);
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    if (worker?.alive) await worker.stop();
    if (worker && worker.log !== '') this.#onLog(worker.log);
  }

  async #ready(): Promise<Worker> {
    if (this.#worker?.alive) return this.#worker;
    this.#worker = await Worker.start({
      environment: this.#system.environment(),
      argvPrefix: this.#system.argvPrefix(),
      signal: this.#signal,
    });
    try {
      await this.#look(this.#worker);
      return this.#worker;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #look(worker: Worker): Promise<void> {
    const { description, attestation } = await this.#attest(worker, 'before');
    if (this.#first && !sameLayer(this.#first.attestation, attestation))
      throw new BenchError(
        'INVALID_RESULT',
        `layer not active: a new worker process is under ${layerName(attestation)}, the first was under ${layerName(this.#first.attestation)}.`,
      );
    this.#first ??= { description, attestation };
  }

  #attest(worker: Worker, phase: Evidence['phase']): Promise<Prepared> {
    const { simulatedDriver, device, path } = this.#target;
    const target: DeviceTarget = { simulatedDriver, device: device ?? null, path };
    return attestWorker(worker, this.#system, { phase, tenant: SOLE_TENANT, target, signal: this.#signal });
  }
}

const layerName = ({ layer }: Attestation): string =>
  layer ? `${layer.path} (${layer.active ? 'active' : 'inactive'}, SHA-256 ${layer.sha256 ?? 'unknown'})` : 'no layer';

const sameLayer = (a: Attestation, b: Attestation): boolean => layerName(a) === layerName(b);

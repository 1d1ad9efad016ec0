/**
 * NVML's utilisation while a tenant works: published with its share, but without effect on any verdict. NVML counts the
 * time in which any kernel runs, no matter how much of the card that kernel uses.
 */
import { mean } from 'simple-statistics';
import * as v from 'valibot';
import { count, quantity, text } from '../../core/details.js';
import { messageOf } from '../../../errors/message-of.js';
import type { GroundTruth } from '../../../native/ground-truth.js';

export const nvmlUtilization = v.strictObject({
  gpuPercent: v.nullable(quantity('%', "The whole card's: mean of all readings; null if there is none")),
  processPercent: v.nullable(
    quantity('%', "The tenant's process's: mean of NVML's own samples; null if there is none"),
  ),
  readings: count('Readings'),
  reason: v.optional(text('Why a value is missing')),
});

type NvmlUtilization = v.InferOutput<typeof nvmlUtilization>;

/** NVML updates its values every 1/6 s to 1 s. */
const INTERVAL_MS = 100;

interface Watched {
  truth: GroundTruth | null;
  pid: number;
  /** How much time at the beginning is not read. */
  dropMs: number;
}

/** Resolves with both once `run` has settled. */
export async function besideNvml<T>(watched: Watched, run: () => Promise<T>): Promise<[T, NvmlUtilization]> {
  const { truth } = watched;
  if (truth === null) {
    const reason = 'the coordinator sees the GPU through the layer';
    return [await run(), { gpuPercent: null, processPercent: null, readings: 0, reason }];
  }
  const readings = new Readings(truth, watched);
  try {
    const result = await run();
    return [result, await readings.result()];
  } finally {
    await readings.stop();
  }
}

class Readings {
  readonly #truth: GroundTruth;
  readonly #pid: number;
  readonly #gpu: number[] = [];
  /** Samples by NVML's time stamp, because NVML repeats the latest sample until it has a newer one. */
  readonly #process = new Map<number, number>();
  #readings = 0;
  #listsProcesses = false;
  #failure: string | null = null;
  readonly #sinceMs: number;
  #timer: NodeJS.Timeout | null;
  #reading: Promise<void> = Promise.resolve();

  constructor(truth: GroundTruth, { pid, dropMs }: Watched) {
    this.#truth = truth;
    this.#pid = pid;
    this.#sinceMs = Date.now() + dropMs;
    this.#timer = setTimeout(() => this.#next(), dropMs);
  }

  async stop(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#reading;
  }

  async result(): Promise<NvmlUtilization> {
    await this.stop();
    // After a shorter load NVML still reports the previous period.
    if (this.#readings === 0 && this.#failure === null) await this.#read();
    const process = [...this.#process.values()];
    return {
      gpuPercent: this.#gpu.length > 0 ? mean(this.#gpu) : null,
      processPercent: process.length > 0 ? mean(process) : null,
      readings: this.#readings,
      ...this.#missing(),
    };
  }

  #missing(): { reason?: string } {
    const missing = [
      ...(this.#failure === null ? [] : [`NVML could not be read: ${this.#failure}`]),
      ...(this.#gpu.length === 0 ? ['NVML does not report the utilisation of the card'] : []),
      ...(this.#process.size > 0
        ? []
        : this.#listsProcesses
          ? ['NVML listed no utilisation of the process']
          : ['NVML does not report the utilisation of processes']),
    ];
    return missing.length === 0 ? {} : { reason: missing.join('; ') };
  }

  #next(): void {
    this.#reading = this.#read().then(() => {
      if (this.#timer) this.#timer = setTimeout(() => this.#next(), INTERVAL_MS);
    });
  }

  /** Never rejects: additional information must not cost the result. */
  async #read(): Promise<void> {
    const said = await this.#truth.utilization(this.#sinceMs).catch((error: unknown) => {
      this.#failure = messageOf(error);
      return null;
    });
    this.#readings++;
    if (!said) return;
    if (said.gpuPercent !== null) this.#gpu.push(said.gpuPercent);
    this.#listsProcesses ||= said.processes !== null;
    for (const { pid, atUs, smPercent } of said.processes ?? [])
      if (pid === this.#pid) this.#process.set(atUs, smPercent);
  }
}

/**
 * NVML's utilisation while a tenant works: published beside its share, without effect on any verdict. NVML counts the time in
 * which any kernel runs, whatever part of the card that kernel uses.
 */
import { mean } from 'simple-statistics';
import { messageOf } from '../../errors/message-of.js';
import type { GroundTruth } from '../../native/ground-truth.js';

export interface NvmlUtilization {
  /** Of the whole card, the mean of all readings; null where there is none. */
  gpuPercent: number | null;
  /** Of the tenant's process, the mean of NVML's own samples; null where there is none. */
  processPercent: number | null;
  readings: number;
  /** Why a figure is missing. */
  reason?: string;
}

/** NVML renews what it says every 1/6 s to 1 s. */
const INTERVAL_MS = 100;

export interface Watched {
  truth: GroundTruth | null;
  pid: number;
  /** From the beginning, for which NVML is not asked yet. */
  dropMs: number;
}

/** Both, when `run` has settled. */
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
  /** By when NVML took them: it says the latest again until it has a newer one. */
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
    // Of a load that is over sooner, NVML still says the period before.
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

  /** Never rejects: what only stands beside a result does not cost it. */
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

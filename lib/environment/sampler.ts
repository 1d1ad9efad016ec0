/** Reads the GPU's state through NVML at a fixed interval while something is measured, from outside what is measured. */
import type { RunDocument } from '../results/document.js';
import type { GpuState } from '../native/addon-types.js';

export type Samples = NonNullable<RunDocument['sampler']>;

/** Null, or rejecting, where the GPU cannot be read. */
export type ReadGpu = () => Promise<GpuState | null>;

const SHORT_RUN_S = 60;

/** 100 ms, or 1 s for runs that are long enough to fill a document with it. */
export const samplingInterval = (estimatedSeconds: number): number => (estimatedSeconds > SHORT_RUN_S ? 1_000 : 100);

export class Sampler {
  readonly #read: ReadGpu;
  readonly #intervalMs: number;
  readonly #from = performance.now();
  readonly #times: number[] = [];
  readonly #states: GpuState[] = [];
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> = Promise.resolve();
  #busy = false;

  /** Starts at once. */
  constructor(read: ReadGpu, intervalMs: number) {
    this.#read = read;
    this.#intervalMs = intervalMs;
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), intervalMs);
    this.#timer.unref();
  }

  /** Undefined where not one reading succeeded. */
  async stop(): Promise<Samples | undefined> {
    clearInterval(this.#timer);
    await this.#reading;
    if (this.#states.length === 0) return undefined;
    const column = <Key extends keyof GpuState>(key: Key) => this.#states.map((state) => state[key]);
    return {
      source: 'nvml',
      intervalMs: this.#intervalMs,
      timeMs: this.#times,
      gpuPercent: column('gpuPercent'),
      memoryPercent: column('memoryPercent'),
      usedBytes: column('usedBytes'),
      temperatureC: column('temperatureC'),
      powerW: column('powerW'),
      smClockMhz: column('smClockMhz'),
      memoryClockMhz: column('memoryClockMhz'),
      eventReasons: column('eventReasons'),
    };
  }

  /** A reading that takes longer than the interval costs the next one: readings never pile up. */
  #tick(): void {
    if (this.#busy) return;
    this.#busy = true;
    this.#reading = this.#take().finally(() => {
      this.#busy = false;
    });
  }

  async #take(): Promise<void> {
    const at = Math.round(10 * (performance.now() - this.#from)) / 10;
    // A reading that fails is a gap in the times, not the end of a measurement.
    const state = await this.#read().catch(() => null);
    if (!state) return;
    this.#times.push(at);
    this.#states.push(state);
  }
}

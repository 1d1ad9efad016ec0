/** Reads the GPU's state through NVML at a fixed interval during a measurement, from outside the measured process. */
import type { RunDocument } from '../results/document.js';
import type { GpuState } from '../native/addon-types.js';

export type Samples = NonNullable<RunDocument['sampler']>;

/** Null, or a rejection, if the GPU cannot be read. */
type ReadGpu = () => Promise<GpuState | null>;

const SHORT_RUN_S = 60;

/** 100 ms, or 1 s for long runs, whose samples would fill a document. */
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

  /** Undefined if no reading succeeded. */
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

  /** A reading that takes longer than the interval replaces the next one: readings never pile up. */
  #tick(): void {
    if (this.#busy) return;
    this.#busy = true;
    this.#reading = this.#take().finally(() => {
      this.#busy = false;
    });
  }

  async #take(): Promise<void> {
    const at = Math.round(10 * (performance.now() - this.#from)) / 10;
    // A failed reading is a gap in the times; the measurement continues.
    const state = await this.#read().catch(() => null);
    if (!state) return;
    this.#times.push(at);
    this.#states.push(state);
  }
}

/** What the monitor saw of the GPU during one run: its CSV, and what metrics, checks and charts take from it. */
import { existsSync } from 'node:fs';
import { slowdownsAmong } from '../../environment/event-reasons.js';
import { headerLine, sampleLines } from '../../monitor/columns.js';
import type { GpuProcessSample, GpuSample } from '../../monitor/sample.js';
import { type StoredTimeline, storedTimeline } from '../../monitor/stored-timeline.js';
import { loadAddon } from '../../native/load.js';
import { type Energy, energyOf } from '../metrics/energy.js';
import { type Throttling, throttlingOf } from '../metrics/throttling.js';
import { type ListedByNvml, ListedProcesses } from '../program/listed-processes.js';
import type { ProcessPlaces } from '../program/process-places.js';
import type { RunLines } from '../program/run-file.js';
import type { RunPhase } from '../program/run-phases.js';

/**
 * Most samples of a run in memory: half an hour at the usual interval. A longer run keeps every second one, then every
 * fourth.
 */
const MOST_SAMPLES = 20_000;
/** Most samples that are kept until the start of the program is known, which takes milliseconds. */
const MOST_EARLY = 1_000;
const MIB = 2 ** 20;

/** What happened in the run. */
interface RunCourse {
  phases: readonly RunPhase[];
  /** The PIDs of all processes of the program that were seen. */
  pids: ReadonlySet<number>;
}

export interface RecordedGpu {
  /** Number of samples in the run. */
  samples: number;
  /** Largest sum of GPU memory over the program's processes; null where NVML listed none of them. */
  programBytes: number | null;
  /** Reasons for which clocks were lowered; null where NVML gave no reasons for the clocks. */
  slowdowns: string[] | null;
  /** PIDs of processes that are not of the program. */
  foreignPids: number[];
  energy: Energy;
  throttling: Throttling;
  /** The samples for charts; null where no sample was taken. */
  timeline: StoredTimeline | null;
}

const recordedNothing = (why: string): RecordedGpu => ({
  samples: 0,
  programBytes: null,
  slowdowns: null,
  foreignPids: [],
  timeline: null,
  energy: { missing: why },
  throttling: { missing: why },
});

/** Offset from CLOCK_MONOTONIC to CLOCK_MONOTONIC_RAW. The two drift apart where the clock is adjusted. */
const offsetNs = (): number => loadAddon().now() - Number(process.hrtime.bigint());

export class GpuRecord {
  /** Called with the PIDs that NVML lists in every sample of the run. */
  onProcesses: ((pids: readonly number[]) => void) | null = null;
  #seen: RecordedGpu;
  readonly #ours: Set<number>;
  readonly #intervalMs: number;
  readonly #csv: RunLines | null;
  readonly #early: GpuSample[] = [];
  #samples: GpuSample[] = [];
  #before: GpuSample | null = null;
  #after: GpuSample | null = null;
  #stride = 1;
  #count = 0;
  #from: { ns: number; offsetNs: number } | null = null;
  #to: { ns: number; offsetNs: number } | null = null;
  #course: RunCourse | null = null;
  readonly #listed = new ListedProcesses();
  readonly #flush: () => Promise<void>;
  readonly #places: ProcessPlaces | null;

  /**
   * Begins a record. `ours`: PIDs of all runs so far, to which those of this run are added. `why`: the reason why the
   * record stays empty if there is no monitor. `flush` hands on what was sampled so far. `places`: where NVML lists
   * processes, on an instance.
   */
  constructor(
    ours: Set<number>,
    intervalMs: number,
    csv: RunLines | null,
    why: string,
    flush: () => Promise<void> = () => Promise.resolve(),
    places: ProcessPlaces | null = null,
  ) {
    [this.#ours, this.#intervalMs, this.#csv, this.#flush] = [ours, intervalMs, csv, flush];
    this.#places = places;
    this.#seen = recordedNothing(why);
  }

  /** What was recorded, once it is complete. */
  get seen(): RecordedGpu {
    return this.#seen;
  }

  /** Whether the record needs no further samples. */
  get isComplete(): boolean {
    return this.#after !== null && this.#course !== null;
  }

  /** Notes the start of the program, at `atNs` of CLOCK_MONOTONIC. */
  begin(atNs: number): void {
    const offset = offsetNs();
    this.#from = { ns: atNs + offset, offsetNs: offset };
    for (const sample of this.#early.splice(0)) this.add(sample);
  }

  /** Notes the end of the program's first process, at `atNs` of CLOCK_MONOTONIC. */
  end(atNs: number): void {
    const offset = offsetNs();
    this.#to ??= { ns: atNs + offset, offsetNs: offset };
  }

  /** What NVML listed in all samples of the run so far; null if there is no sample. */
  async listed(): Promise<ListedByNvml | null> {
    await this.#flush();
    return this.#count === 0 ? null : this.#listed;
  }

  /** Where NVML listed processes so far; null where it was not asked. */
  get places(): ProcessPlaces | null {
    return this.#places?.looks ? this.#places : null;
  }

  close(course: RunCourse): void {
    for (const pid of course.pids) this.#ours.add(pid);
    this.#course = course;
  }

  /** Takes a sample. Samples come in the order of time. */
  add(sample: GpuSample): void {
    if (this.#from === null) {
      if (this.#early.length < MOST_EARLY) this.#early.push(sample);
    } else if (sample.monotonicNs < this.#from.ns) this.#before = sample;
    else if (this.#to !== null && sample.monotonicNs > this.#to.ns) this.#after ??= sample;
    else this.#keep(sample, this.#from.ns);
  }

  /** Completes the record, after the last sample. Returns why its CSV is not complete; null if it is. */
  async complete(): Promise<string | null> {
    if (this.#from && this.#to && this.#course) this.#seen = this.#summary(this.#from, this.#to, this.#course);
    this.#samples = [];
    return this.#csv?.close() ?? null;
  }

  #keep(sample: GpuSample, fromNs: number): void {
    const timeS = Math.round((sample.monotonicNs - fromNs) / 1e3) / 1e6;
    const own = { ...sample, timeS, processes: sample.processes.filter(isThere) };
    if (this.#count === 0) this.#csv?.write(headerLine());
    this.#csv?.write(sampleLines([{ ...sample, timeS }]));
    this.#listed.add(sample.processes);
    this.onProcesses?.(sample.processes.map(({ pid }) => pid));
    if (this.#count++ % this.#stride !== 0) return;
    this.#samples.push(own);
    if (this.#samples.length < MOST_SAMPLES) return;
    this.#samples = this.#samples.filter((_, i) => i % 2 === 0);
    this.#stride *= 2;
  }

  #summary(from: { ns: number; offsetNs: number }, to: typeof from, { phases, pids }: RunCourse): RecordedGpu {
    const within = this.#samples.filter(({ monotonicNs }) => monotonicNs <= to.ns);
    const around = [this.#before, ...within, this.#after].filter((sample) => sample !== null);
    const reasons = within.flatMap(({ clockReasons }) => (clockReasons === null ? [] : [clockReasons]));
    const listed = new Set(within.flatMap(({ processes }) => processes.map(({ pid }) => pid)));
    const drift = to.offsetNs - from.offsetNs;
    const share = (ns: number) => (ns + from.offsetNs - from.ns) / Math.max(1, to.ns - from.ns);
    const seconds = (ns: number) => Math.round((ns + from.offsetNs + share(ns) * drift - from.ns) / 1e3) / 1e6;
    return {
      samples: within.length,
      programBytes: largestSum(within, pids),
      slowdowns: reasons.length === 0 ? null : slowdownsAmong(reasons.flat()),
      foreignPids: [...listed].filter((pid) => !this.#ours.has(pid)),
      energy: energyOf(around, from.ns, to.ns),
      throttling: throttlingOf(within, {
        fromNs: from.ns,
        toNs: to.ns,
        intervalMs: this.#intervalMs * this.#stride,
      }),
      timeline: storedTimeline({
        samples: around.map((sample) => ({ ...sample, timeS: (sample.monotonicNs - from.ns) / 1e9 })),
        intervalMs: this.#intervalMs * this.#stride,
        phases: phases.map(({ name, fromNs, toNs }) => ({ name, fromS: seconds(fromNs), toS: seconds(toNs) })),
      }),
    };
  }
}

/**
 * Whether a process holds memory of the GPU. NVML also lists what worked on the GPU in the last second, and may have
 * ended before the run, and for a moment, with 0 bytes, what starts on another GPU.
 */
const isThere = ({ pid, memoryUsedMib }: GpuProcessSample): boolean =>
  memoryUsedMib === null ? existsSync(`/proc/${pid}`) : memoryUsedMib > 0;

function largestSum(samples: readonly GpuSample[], pids: ReadonlySet<number>): number | null {
  let largest: number | null = null;
  for (const { processes } of samples) {
    const used = processes.filter(({ pid }) => pids.has(pid)).flatMap(({ memoryUsedMib }) => memoryUsedMib ?? []);
    if (used.length > 0) largest = Math.max(largest ?? 0, MIB * used.reduce((sum, mib) => sum + mib));
  }
  return largest;
}

/**
 * Watches GPUs through NVML from the process that calls it, which no layer may be loaded into. A native thread per GPU keeps
 * the interval; here samples are only fetched, written and handed on.
 */
import { describeGpus, findGpu } from '../environment/named-gpu.js';
import { quoted } from '../errors/usage-error.js';
import type { ListedGpu, MonitorReport, Target } from '../native/addon-types.js';
import { BenchError } from '../errors/bench-error.js';
import { native } from '../native/errors.js';
import { loadAddon, simulatedDriver } from '../native/load.js';
import { headerLine, sampleLines } from './columns.js';
import { csvFile, type LineSink } from './csv-file.js';
import { missingField } from './missing.js';
import { type MonitorOptions, type ResolvedMonitorOptions, resolveMonitorOptions } from './options.js';
import { MonitorError, type MonitorSummary, type WatchedGpu } from './summary.js';
import { type GpuSample, sampleOf, type Start } from './sample.js';

/** Fetching more often would cost more than reading; less often would lose more when the process is killed. */
const LEAST_FETCH_MS = 200;

export interface Monitor {
  gpus: readonly WatchedGpu[];
  /** When it began, on CLOCK_MONOTONIC_RAW in nanoseconds: `timeS` of a sample counts from here. */
  startedNs: number;
  /** Hands on at once what was sampled since the last time. */
  flush: () => Promise<void>;
  /**
   * Ends sampling; resolves when every sample is handed on and the CSV is complete. Rejects with MonitorError if the CSV could
   * not be written. Further calls give the same.
   */
  stop: () => Promise<MonitorSummary>;
}

interface Watch {
  gpu: ListedGpu;
  monitor: number;
  report: MonitorReport;
}

/**
 * Rejects with TypeError or RangeError for bad options, with BenchError (NO_ADDON, NO_DRIVER, NO_SUCH_DEVICE,
 * DRIVER_CONFLICT, NO_THREAD) if nothing can be sampled, with an Error that names the file if the CSV cannot be written.
 */
export async function startMonitor(
  options: Omit<MonitorOptions, 'csv'> & { csv?: string | LineSink } = {},
): Promise<Monitor> {
  const resolved = resolveMonitorOptions(options);
  const target = { simulatedDriver: simulatedDriver(resolved.simulate) };
  const gpus = chosen(await native(loadAddon().listGpus(target)), resolved.devices);
  const sink = typeof resolved.csv === 'string' ? await csvFile(resolved.csv) : resolved.csv;
  try {
    await sink?.write(headerLine());
    const start = { ns: loadAddon().now(), unixMs: Date.now() };
    return new Watching(await startAll(target, gpus, resolved.intervalMs), { resolved, sink, start });
  } catch (error) {
    // What could not be started has nothing to complete.
    await sink?.close().catch(() => undefined);
    throw error;
  }
}

function chosen(gpus: readonly ListedGpu[], names: readonly string[] | null): ListedGpu[] {
  if (gpus.length === 0)
    throw new BenchError('NO_SUCH_DEVICE', 'NVML lists no GPU: gpu-virt-bench doctor says what is there.');
  if (names === null) return [...gpus];
  const found = names.map((name) => {
    const gpu = findGpu(gpus, name);
    if (gpu) return gpu;
    throw new BenchError('NO_SUCH_DEVICE', `Expected device to be ${describeGpus(gpus)} but received ${quoted(name)}.`);
  });
  return [...new Set(found)];
}

const NOTHING: MonitorReport = { samples: [], taken: 0, missed: 0, lost: 0, missing: [], failure: null };

/** Starts all of them or none. */
async function startAll(target: Target, gpus: readonly ListedGpu[], intervalMs: number): Promise<Watch[]> {
  const addon = loadAddon();
  const started = await Promise.allSettled(
    gpus.map(async (gpu): Promise<Watch> => {
      const request = { ...target, uuid: gpu.uuid, intervalNs: 1e6 * intervalMs };
      const { monitor } = await native(addon.startMonitor(request));
      return { gpu, monitor, report: NOTHING };
    }),
  );
  const watches = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failed = started.find((each) => each.status === 'rejected');
  if (!failed) return watches;
  for (const { monitor } of watches) addon.dropMonitor({ monitor });
  throw failed.reason;
}

interface Parts {
  resolved: ResolvedMonitorOptions;
  sink: LineSink | null;
  start: Start;
}

class Watching implements Monitor {
  readonly gpus: readonly WatchedGpu[];
  readonly startedNs: number;
  readonly #watches: readonly Watch[];
  readonly #parts: Parts;
  readonly #named = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #fetching: Promise<void> = Promise.resolve();
  #isFetching = false;
  #failure: Error | null = null;
  #stopped: Promise<MonitorSummary> | null = null;

  constructor(watches: readonly Watch[], parts: Parts) {
    this.#watches = watches;
    this.#parts = parts;
    this.gpus = watches.map(({ gpu }) => gpu);
    this.startedNs = parts.start.ns;
    this.#timer = setInterval(() => this.#fetch(), Math.max(LEAST_FETCH_MS, parts.resolved.intervalMs)).unref();
  }

  async flush(): Promise<void> {
    // What was fetched before is handed on first.
    await this.#fetching;
    this.#fetch();
    await this.#fetching;
  }

  stop(): Promise<MonitorSummary> {
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  async #end(): Promise<MonitorSummary> {
    clearInterval(this.#timer);
    await this.#halt();
    const durationS = (loadAddon().now() - this.startedNs) / 1e9;
    await this.#fetching;
    await this.#hand();
    for (const { monitor } of this.#watches) loadAddon().dropMonitor({ monitor });
    await this.#parts.sink?.close().catch((error: Error) => this.#fail(error));
    const summary = this.#summary(durationS);
    if (this.#failure) throw new MonitorError(this.#failure, summary);
    return summary;
  }

  #halt = () => Promise.all(this.#watches.map(({ monitor }) => native(loadAddon().stopMonitor({ monitor }))));

  /** While a slow disk writes, nothing is fetched: samples wait in the addon, which keeps 1000. */
  #fetch(): void {
    if (this.#isFetching) return;
    this.#isFetching = true;
    this.#fetching = this.#hand().finally(() => {
      this.#isFetching = false;
    });
  }

  async #hand(): Promise<void> {
    const samples = this.#watches.flatMap((watch) => this.#take(watch));
    // Samples of several GPUs are handed on in the order of time.
    samples.sort((a, b) => a.monotonicNs - b.monotonicNs);
    if (this.#failure) return;
    if (samples.length === 0) return this.#failWithAThread();
    try {
      await this.#parts.sink?.write(sampleLines(samples));
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    for (const sample of samples) this.#parts.resolved.onSample(sample);
    this.#failWithAThread();
  }

  #failWithAThread(): void {
    const ended = this.#watches.find(({ report }) => report.failure !== null);
    if (ended)
      this.#fail(
        new BenchError(
          'SAMPLING_ENDED',
          `Sampling of GPU ${ended.gpu.index} ended early: ${ended.report.failure}. Start the monitor again.`,
        ),
      );
  }

  #take(watch: Watch): GpuSample[] {
    const { start, resolved } = this.#parts;
    watch.report = loadAddon().takeSamples({ monitor: watch.monitor });
    for (const value of watch.report.missing) {
      const key = `${watch.gpu.index} ${value.call}`;
      if (value.samples < watch.report.taken || this.#named.has(key)) continue;
      this.#named.add(key);
      resolved.onMissing(missingField(watch.gpu.index, value));
    }
    return watch.report.samples.map((sample) => sampleOf(sample, watch.gpu, start));
  }

  /** Ends sampling: further samples could not be kept. */
  #fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    clearInterval(this.#timer);
    this.#halt().catch(() => undefined); // `stop` asks again, and rejects with what is wrong
    this.#parts.resolved.onError(error);
  }

  #summary(durationS: number): MonitorSummary {
    const { resolved, start } = this.#parts;
    const sum = (count: (report: MonitorReport) => number) =>
      this.#watches.reduce((total, { report }) => total + count(report), 0);
    const missing = this.#watches.flatMap(({ gpu, report }) =>
      report.missing.map((value) => ({
        field: missingField(gpu.index, value),
        isAlways: value.samples === report.taken,
      })),
    );
    return {
      startedAt: new Date(start.unixMs).toISOString(),
      durationS,
      intervalMs: resolved.intervalMs,
      simulated: this.#watches.some(({ gpu }) => gpu.simulated),
      gpus: [...this.gpus],
      samples: sum(({ taken }) => taken),
      missedIntervals: sum(({ missed }) => missed),
      lostSamples: sum(({ lost }) => lost),
      unsupported: missing.filter(({ isAlways }) => isAlways).map(({ field }) => field),
      gaps: missing.filter(({ isAlways }) => !isAlways).map(({ field }) => field),
    };
  }
}

/** The monitor of the GPU over the runs of a round: one, because starting and ending it would cost each run time. */
import { isInstance } from '../../results/cards.js';
import { messageOf } from '../../errors/message-of.js';
import { type Monitor, startMonitor } from '../../monitor/monitor.js';
import type { GpuSample } from '../../monitor/sample.js';
import { native } from '../../native/errors.js';
import { loadAddon, simulatedDriver } from '../../native/load.js';
import { ProcessPlaces } from '../program/process-places.js';
import { GpuRecord } from './gpu-record.js';
import { RunLines } from '../program/run-file.js';

interface MonitoredGpu {
  uuid: string;
  simulate: boolean;
}

export class RoundMonitor {
  readonly #intervalMs: number;
  readonly #ours = new Set<number>();
  #open: GpuRecord[] = [];
  readonly #completing: Promise<string | null>[] = [];
  #monitor: Monitor | null = null;
  #why = 'there is no NVML that could be read from outside';
  #listsProcesses = false;
  #places: ProcessPlaces | null = null;

  private constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** Starts the monitor. Without a GPU or without NVML, its records stay empty and say why. */
  static async start(gpu: MonitoredGpu | null, intervalMs: number): Promise<RoundMonitor> {
    const round = new RoundMonitor(intervalMs);
    if (gpu === null) return round;
    const { simulate } = gpu;
    try {
      const device = await round.#watched(gpu);
      round.#monitor = await startMonitor({ device, simulate, intervalMs, onSample: (sample) => round.#add(sample) });
      round.#why = 'the run ended before the GPU was read';
    } catch (error) {
      round.#why = `the GPU could not be monitored: ${messageOf(error)}`;
    }
    return round;
  }

  /** A card is watched itself. NVML has most values only for the card of an instance, and processes by instance. */
  async #watched({ uuid, simulate }: MonitoredGpu): Promise<string> {
    if (!isInstance(uuid)) return uuid;
    const target = { simulatedDriver: simulatedDriver(simulate) };
    const instances = await native(loadAddon().migInstances(target));
    this.#places = new ProcessPlaces(target, this.#intervalMs);
    return instances.find((each) => each.uuid === uuid)?.parent ?? uuid;
  }

  /** Begins the record of the next run. `csv`: the file for its samples; null keeps none. */
  record(csv: string | null): GpuRecord {
    const lines = csv === null ? null : new RunLines(csv);
    const flush = () => this.#monitor?.flush() ?? Promise.resolve();
    const record = new GpuRecord(this.#ours, this.#intervalMs, lines, this.#why, flush, this.#places);
    this.#open.push(record);
    return record;
  }

  /** Whether NVML listed processes, known once the monitor has ended. */
  get listsProcesses(): boolean {
    return this.#listsProcesses;
  }

  /** Completes all records. Returns what is missing from their files. */
  async stop(): Promise<string[]> {
    await this.#places?.stop();
    const summary = await this.#monitor?.stop();
    this.#listsProcesses =
      summary?.unsupported.every(({ rows, columns }) => rows !== 'process' || !columns.includes('memory_used_mib')) ??
      false;
    this.#completing.push(...this.#open.splice(0).map((record) => record.complete()));
    return (await Promise.all(this.#completing)).filter((note) => note !== null);
  }

  #add(sample: GpuSample): void {
    for (const record of this.#open) record.add(sample);
    const complete = this.#open.filter(({ isComplete }) => isComplete);
    if (complete.length === 0) return;
    this.#open = this.#open.filter(({ isComplete }) => !isComplete);
    this.#completing.push(...complete.map((record) => record.complete()));
  }
}

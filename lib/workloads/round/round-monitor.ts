/** The monitor of the GPU over the runs of a round: one, because starting and ending it would cost each run time. */
import { messageOf } from '../../errors/message-of.js';
import { type Monitor, startMonitor } from '../../monitor/monitor.js';
import type { GpuSample } from '../../monitor/sample.js';
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

  private constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** Starts the monitor. Without a GPU or without NVML, its records stay empty and say why. */
  static async start(gpu: MonitoredGpu | null, intervalMs: number): Promise<RoundMonitor> {
    const round = new RoundMonitor(intervalMs);
    if (gpu === null) return round;
    const { uuid: device, simulate } = gpu;
    try {
      round.#monitor = await startMonitor({ device, simulate, intervalMs, onSample: (sample) => round.#add(sample) });
      round.#why = 'the run ended before the GPU was read';
    } catch (error) {
      round.#why = `the GPU could not be monitored: ${messageOf(error)}`;
    }
    return round;
  }

  /** Begins the record of the next run. `csv`: the file for its samples; null keeps none. */
  record(csv: string | null): GpuRecord {
    const lines = csv === null ? null : new RunLines(csv);
    const flush = () => this.#monitor?.flush() ?? Promise.resolve();
    const record = new GpuRecord(this.#ours, this.#intervalMs, lines, this.#why, flush);
    this.#open.push(record);
    return record;
  }

  /** Whether NVML listed processes, known once the monitor has ended. */
  get listsProcesses(): boolean {
    return this.#listsProcesses;
  }

  /** Completes all records. Returns what is missing from their files. */
  async stop(): Promise<string[]> {
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

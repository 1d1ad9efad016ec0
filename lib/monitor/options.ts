/** The monitor's options, checked. */
import { expected } from '../errors/expected.js';
import { checkOptions, type Known } from '../errors/known-options.js';
import type { LineSink } from './csv-file.js';
import type { MissingField } from './missing.js';
import type { GpuSample } from './sample.js';

export const DEFAULT_INTERVAL_MS = 100;
export const SHORTEST_INTERVAL_MS = 10;
const LONGEST_INTERVAL_MS = 3_600_000;
/** Limits of the interval, for `parseDuration`. */
export const INTERVAL_LIMITS = { shortestMs: SHORTEST_INTERVAL_MS, longestMs: LONGEST_INTERVAL_MS } as const;

export interface MonitorOptions {
  /** NVML indexes or UUIDs (or their unambiguous beginnings). Default: all GPUs that NVML lists. */
  device?: number | string | readonly (number | string)[];
  /** Milliseconds between samples, from 10 to 3600000. Default 100. */
  intervalMs?: number;
  /** A file that samples are written to as they come; what it holds is replaced. Default: none. */
  csv?: string;
  /** Watch the simulated GPU instead of the machine's own. Default false. */
  simulate?: boolean;
  /** Gets every sample, at most 0.2 s (or the interval, if that is longer) after it was taken. */
  onSample?: (sample: GpuSample) => void;
  /** Gets every field that no sample has had a value of, once, as soon as that is known. */
  onMissing?: (field: MissingField) => void;
  /** Called once if the CSV can no longer be written: the monitor has then ended, and `stop` rejects with the error. */
  onError?: (error: Error) => void;
}

export interface ResolvedMonitorOptions extends Required<Pick<MonitorOptions, 'intervalMs' | 'simulate'>> {
  /** Null: all of them. */
  devices: readonly string[] | null;
  csv: string | LineSink | null;
  onSample: (sample: GpuSample) => void;
  onMissing: (field: MissingField) => void;
  onError: (error: Error) => void;
}

const known: Known<MonitorOptions> = {
  device: true,
  intervalMs: true,
  csv: true,
  simulate: true,
  onSample: true,
  onMissing: true,
  onError: true,
};

function interval(value: unknown): number {
  const wanted = `an integer from ${SHORTEST_INTERVAL_MS} to ${LONGEST_INTERVAL_MS}`;
  if (typeof value !== 'number') throw expected('intervalMs', wanted, value, TypeError);
  if (!Number.isInteger(value) || value < SHORTEST_INTERVAL_MS || value > LONGEST_INTERVAL_MS)
    throw expected('intervalMs', wanted, value, RangeError);
  return value;
}

function devices(value: unknown): string[] | null {
  if (value === undefined) return null;
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const isName = (each: unknown) =>
    (typeof each === 'number' && Number.isInteger(each) && each >= 0) || (typeof each === 'string' && each !== '');
  if (list.length === 0 || !list.every(isName))
    throw expected('device', 'an NVML index or a UUID, or a list of them', value, TypeError);
  return list.map(String);
}

function callback<Argument>(name: keyof MonitorOptions, value: unknown): (argument: Argument) => void {
  if (value === undefined) return () => undefined;
  if (typeof value !== 'function') throw expected(name, 'a function', value, TypeError);
  return value as (argument: Argument) => void;
}

/** Throws TypeError or RangeError; unknown options are refused by name. `csv` may be a sink where the caller has one. */
export function resolveMonitorOptions(
  options: Omit<MonitorOptions, 'csv'> & { csv?: string | LineSink } = {},
): ResolvedMonitorOptions {
  checkOptions(options, known);
  const { csv = null, simulate = false } = options;
  if (csv === '') throw expected('csv', 'the path of a file', csv, RangeError);
  if (csv !== null && typeof csv !== 'string' && typeof csv !== 'object')
    throw expected('csv', 'the path of a file', csv, TypeError);
  if (typeof simulate !== 'boolean') throw expected('simulate', 'true or false', simulate, TypeError);
  return {
    devices: devices(options.device),
    intervalMs: interval(options.intervalMs ?? DEFAULT_INTERVAL_MS),
    csv,
    simulate,
    onSample: callback('onSample', options.onSample),
    onMissing: callback('onMissing', options.onMissing),
    onError: callback('onError', options.onError),
  };
}

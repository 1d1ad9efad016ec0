/** Checks the options of a measurement. Errors have one form: Expected X to be Y but received Z. */
import { randomInt } from 'node:crypto';
import { expected } from '../../errors/expected.js';
import { checkOptions, type Known } from '../../errors/known-options.js';
import { DEFAULT_WORKLOAD, resolveModel, workloadNames } from '../llm/workloads.js';
import type { MeasureOptions, ResolvedOptions } from './metric.js';

const MAX_COUNT = 10_000_000;
const MAX_SEED = 2 ** 48 - 1;
/** The options of a measurement. */
export const measureOptions: Known<MeasureOptions> = {
  device: true,
  warmup: true,
  iterations: true,
  resolution: true,
  path: true,
  simulate: true,
  samples: true,
  tier: true,
  seed: true,
  workload: true,
  model: true,
  signal: true,
  onProgress: true,
};

function integer(name: string, value: unknown, low: number, high: number): number {
  const wanted = `an integer from ${low} to ${high}`;
  if (typeof value !== 'number') throw expected(name, wanted, value, TypeError);
  if (!Number.isInteger(value) || value < low || value > high) throw expected(name, wanted, value, RangeError);
  return value;
}

function flag(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw expected(name, 'true or false', value, TypeError);
  return value;
}

function choice<T extends string>(name: string, value: unknown, choices: readonly T[]): T {
  const found = choices.find((candidate) => candidate === value);
  const Kind = typeof value === 'string' ? RangeError : TypeError;
  if (found === undefined) throw expected(name, `one of ${choices.join(', ')}`, value, Kind);
  return found;
}

function device(value: unknown): number | string {
  if (typeof value === 'string' && value !== '') return /^\d{1,4}$/.test(value) ? Number(value) : value;
  if (typeof value === 'string') throw expected('device', 'an NVML index or a UUID', value, RangeError);
  return integer('device', value, 0, 1023);
}

function resolution(value: unknown): number {
  const wanted = 'a number above 0 and at most 1';
  if (typeof value !== 'number') throw expected('resolution', wanted, value, TypeError);
  if (!(value > 0 && value <= 1)) throw expected('resolution', wanted, value, RangeError);
  return value;
}

/** Throws TypeError or RangeError; unknown options are refused by name. */
export function resolveOptions(options: MeasureOptions = {}): ResolvedOptions {
  checkOptions(options, measureOptions);
  if (options.onProgress !== undefined && typeof options.onProgress !== 'function')
    throw expected('onProgress', 'a function', options.onProgress, TypeError);
  if (options.signal !== undefined && !(options.signal instanceof AbortSignal))
    throw expected('signal', 'an AbortSignal', options.signal, TypeError);
  return {
    device: options.device === undefined ? null : device(options.device),
    warmup: options.warmup === undefined ? null : integer('warmup', options.warmup, 0, MAX_COUNT),
    iterations: options.iterations === undefined ? null : integer('iterations', options.iterations, 1, MAX_COUNT),
    resolution: options.resolution === undefined ? 0.01 : resolution(options.resolution),
    path: choice('path', options.path ?? 'runtime', ['runtime', 'dlsym', 'linked']),
    simulate: flag('simulate', options.simulate ?? false),
    samples: flag('samples', options.samples ?? false),
    tier: choice('tier', options.tier ?? 'quick', ['quick', 'standard', 'thorough']),
    seed: options.seed === undefined ? randomInt(MAX_SEED) : integer('seed', options.seed, 0, MAX_SEED),
    workload: choice('workload', options.workload ?? DEFAULT_WORKLOAD, workloadNames),
    model: options.model === undefined ? null : resolveModel(options.model),
  };
}

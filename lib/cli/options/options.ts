/** Parses and checks option values. Ranges are the library's own. */
import type { ApplicationPath, Tier } from '../../results/document.js';
import type { MeasureOptions } from '../../metrics/core/metric.js';
import type { DecoderModel, WorkloadName } from '../../metrics/llm/workloads.js';
import { entriesOf } from '../../environment/named-gpu.js';
import { resolveOptions } from '../../metrics/core/options.js';
import { type Measuring, metricOptions, type MetricOptions } from '../../api/measuring.js';
import type { ChosenTarget } from '../../run/plan/target.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { type Output, parseOutputs, type RawOutputs } from './document-outputs.js';

/** The options as commander parses them: text, or flags. */
export interface RawRunOptions extends RawOutputs {
  device?: string;
  tier: string;
  iterations?: string;
  warmup?: string;
  resolution?: string;
  path: string;
  samples?: true;
  seed?: string;
  workload?: string;
  model?: string;
  timeout?: string;
  requireGpu?: true;
  simulate?: true;
  strict?: true;
  dryRun?: true;
}

export interface RunOptions {
  device: string | undefined;
  tier: Tier;
  path: ApplicationPath;
  seed: number;
  timeoutSeconds: number | null;
  /** Only options that were given. */
  measure: MetricOptions;
  outputs: Output[];
  requireGpu: boolean;
  simulate: boolean;
  strict: boolean;
  dryRun: boolean;
}

const LONGEST_TIMEOUT_S = 86_400;

export function parseRunOptions(raw: RawRunOptions): RunOptions {
  const numbers = parsedNumbers(raw);
  const llm = parsedLlm(raw);
  const resolved = checked({
    ...numbers,
    ...llm,
    device: 0,
    tier: raw.tier as Tier,
    path: raw.path as ApplicationPath,
  });
  return {
    device: parseDevice(raw.device),
    tier: resolved.tier,
    path: resolved.path,
    seed: resolved.seed,
    timeoutSeconds: parseTimeout(raw.timeout),
    measure: metricOptions({ ...numbers, ...llm, samples: raw.samples === true }),
    outputs: parseOutputs(raw),
    requireGpu: raw.requireGpu ?? false,
    simulate: raw.simulate ?? false,
    strict: raw.strict ?? false,
    dryRun: raw.dryRun ?? false,
  };
}

export const measuringOf = (
  { device, requireGpu, timeoutSeconds, strict, path, measure }: RunOptions,
  target: ChosenTarget,
  signal: AbortSignal,
): Measuring => ({ target, device, requireGpu, timeoutSeconds, strict, options: { ...measure, path }, signal });

function parsedNumbers(raw: RawRunOptions): Pick<MeasureOptions, 'iterations' | 'warmup' | 'resolution' | 'seed'> {
  return {
    ...(raw.iterations !== undefined && { iterations: parseNumber('--iterations', raw.iterations) }),
    ...(raw.warmup !== undefined && { warmup: parseNumber('--warmup', raw.warmup) }),
    ...(raw.resolution !== undefined && { resolution: parseNumber('--resolution', raw.resolution) }),
    ...(raw.seed !== undefined && { seed: parseNumber('--seed', raw.seed) }),
  };
}

/** The library checks names and sizes. */
function parsedLlm({ workload, model }: RawRunOptions): Pick<MeasureOptions, 'workload' | 'model'> {
  return {
    ...(workload !== undefined && { workload: workload as WorkloadName }),
    ...(model !== undefined && { model: parseModel(model) }),
  };
}

function parseModel(text: string): DecoderModel {
  const sizes = text.split(',').map((pair) => {
    const [name = '', value, ...rest] = pair.split('=');
    if (value === undefined || rest.length > 0)
      throw new UsageError(`Expected --model to be comma-separated SIZE=NUMBER pairs but received ${quoted(text)}.`);
    return [name.trim(), parseNumber(`--model ${name.trim()}`, value)];
  });
  return Object.fromEntries(sizes) as DecoderModel;
}

export function parseNumber(option: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value))
    throw new UsageError(`Expected ${option} to be a number but received ${quoted(text)}.`);
  return value;
}

/** The library's errors name its option; the command line names its flag. */
function checked(options: MeasureOptions) {
  try {
    return resolveOptions(options);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw new UsageError(error.message.replace(/^Expected (\w)/, 'Expected --$1'));
  }
}

/** Whether the device exists is known only once a worker has looked. */
function parseDevice(text: string | undefined): string | undefined {
  if (text === undefined) return text;
  const entries = entriesOf(text);
  if (entries.every((entry) => /^\d{1,4}$|^(GPU|MIG)-[0-9a-f-]+$/i.test(entry))) return entries.join(',');
  throw new UsageError(
    `Expected --device to be an NVML index or a UUID, or several of them joined by commas, but received ${quoted(text)}.`,
  );
}

export function parseTimeout(text: string | undefined): number | null {
  if (text === undefined) return null;
  const seconds = parseNumber('--timeout', text);
  if (seconds > 0 && seconds <= LONGEST_TIMEOUT_S) return seconds;
  throw new UsageError(
    `Expected --timeout to be a number of seconds above 0 and up to ${LONGEST_TIMEOUT_S} but received ${quoted(text)}.`,
  );
}

/**
 * Compares the tool with known values: workers run under the calibration interposer, whose delays and limits are exact.
 * The true value of an injected delay is what the interposer measured itself with the delay, minus what it measured
 * without.
 */
import type { ApplicationPath, MetricResult, Tier } from '../results/document.js';
import { BenchError } from '../errors/bench-error.js';
import type { ComputeShare, DeviceTarget, Target } from '../native/addon-types.js';
import { COMPUTE_SHARE } from '../native/compute-share.js';
import { resolveOptions } from '../metrics/core/options.js';
import { findMetric } from '../metrics/registry.js';
import { longRun, neighbourCorrelation, SLOW_PARTS } from '../stats/long-run.js';
import { tCritical } from '../stats/student-t.js';
import { localStart } from '../workers/local.js';
import { Worker } from '../workers/worker.js';
import { defaultTimeoutSeconds } from './plan/plan.js';
import { patienceOf } from './run-request.js';

/** Largest error of a recovered value, unless the half-width of the 99.9 % interval is larger. */
const TOLERANCE_NS = 15;
const DELAYS_NS = [50, 100, 250, 1_000];
const FUNCTIONS = ['cuCtxGetDevice', 'cuMemGetInfo_v2', 'cuLaunchKernel'];
const MEMORY_LIMIT = 4 * 1024 ** 3;
const COMPUTE_LIMIT_PERCENT = 50;
const TOLERANCE_PERCENTAGE_POINTS = 3;
/** The least deadline, for metrics that estimate less. */
const LEAST_DEADLINE_S = 120;
/** Converts the half-width of a 95 % interval to 99.9 %, for a normal distribution. */
const WIDEN = 3.2905 / 1.96;

export interface CalibrationRow {
  what: string;
  unit: 'ns' | 'bytes' | '%';
  truth: number;
  estimate: number;
  bias: number;
  /** Half-width of the 95 % interval: the tool's resolution. Null if the estimate is exact. */
  halfWidth: number | null;
  recovered: boolean;
}

interface CalibrationRequest {
  target: Target;
  interposer: string;
  /** NVML index or UUID; undefined for the first visible GPU. */
  device: string | undefined;
  path: ApplicationPath;
  tier: Tier;
  /** Deadline of each measurement and of the start of its worker; null: the defaults. */
  timeoutSeconds: number | null;
  environment: NodeJS.ProcessEnv;
  signal: AbortSignal;
  onStep: (step: string) => void;
}

interface FunctionRow {
  name: string;
  overheadNs: number;
  ci95: [number, number] | null;
  achievedNs: number | null;
}

async function askUnder(
  { interposer, environment, timeoutSeconds, signal }: CalibrationRequest,
  interpose: string,
  method: string,
  params: unknown,
  deadlineSeconds = LEAST_DEADLINE_S,
): Promise<unknown> {
  const layered = { ...environment, LD_PRELOAD: interposer, GVB_INTERPOSE: interpose };
  const worker = await Worker.start({ start: localStart(layered), signal, ...patienceOf({ timeoutSeconds }, {}) });
  try {
    return await worker.request(method, params, { deadlineMs: 1_000 * (timeoutSeconds ?? deadlineSeconds), signal });
  } finally {
    await worker.stop();
  }
}

/** Resolution per call: on a busy host a coarser measurement of a launch would exceed the tolerance. */
const RESOLUTION = 0.0015;

async function measureUnder(request: CalibrationRequest, interpose: string, id: string): Promise<MetricResult> {
  const { target, tier, device, path } = request;
  const simulate = target.simulatedDriver !== null;
  const options = { tier, path, simulate, resolution: RESOLUTION, ...(device !== undefined && { device }) };
  const definition = findMetric(id);
  const deadline = definition && Math.max(LEAST_DEADLINE_S, defaultTimeoutSeconds(definition, tier));
  const result = (await askUnder(request, interpose, 'measure', { id, options }, deadline)) as MetricResult;
  if (result.status !== 'ok') throw new BenchError('INVALID_RESULT', `${id} is ${result.status}: ${result.reason}`);
  return result;
}

/**
 * Processes differ by some nanoseconds (memory layout by the loader): the median one of these represents a setting.
 */
const PROCESSES = { quick: 1, standard: 3, thorough: 3 } as const;
/** Processes without a delay: more, because their error is part of every row of a function. */
const PROCESSES_WITHOUT = { quick: 3, standard: 7, thorough: 7 } as const;

/**
 * Finds for each function the row of the process with the median deviation from the true value, of those with an
 * interval.
 */
async function functionsUnder(request: CalibrationRequest, delayNs: number): Promise<Map<string, FunctionRow>> {
  const processes: Map<string, FunctionRow>[] = [];
  const count = (delayNs === 0 ? PROCESSES_WITHOUT : PROCESSES)[request.tier];
  for (let i = 0; i < count; i++) processes.push(await functionsOnce(request, delayNs));
  const excess = ({ overheadNs, achievedNs }: FunctionRow) => overheadNs - (achievedNs ?? 0);
  return new Map(
    FUNCTIONS.flatMap((name) => {
      const all = processes.flatMap((functions) => functions.get(name) ?? []).sort((a, b) => excess(a) - excess(b));
      const known = all.filter(({ ci95 }) => ci95 !== null);
      const rows = known.length > 0 ? known : all;
      const middle = rows[Math.floor(rows.length / 2)];
      return middle ? [[name, middle] as const] : [];
    }),
  );
}

async function functionsOnce(request: CalibrationRequest, delayNs: number): Promise<Map<string, FunctionRow>> {
  request.onStep(`+${delayNs} ns on ${FUNCTIONS.join(', ')}`);
  const interpose = FUNCTIONS.map((name) => `${name}=+${delayNs}ns`).join(',');
  const { details } = await measureUnder(request, interpose, 'OH-005');
  return new Map((details.functions as FunctionRow[]).map((row) => [row.name, row]));
}

function rowOf(name: string, delayNs: number, without: FunctionRow | undefined, withDelay: FunctionRow | undefined) {
  if (!without || !withDelay || without.achievedNs === null || withDelay.achievedNs === null)
    throw new BenchError('INVALID_RESULT', `${name} was not measured through the interposer.`);
  if (!without.ci95 || !withDelay.ci95)
    throw new BenchError(
      'INVALID_RESULT',
      `The samples of ${name} depend so much on each other that they give no interval. Run calibrate again on an idle machine.`,
    );
  const half = ([low, high]: [number, number]) => (high - low) / 2;
  const truth = withDelay.achievedNs - without.achievedNs;
  const estimate = withDelay.overheadNs - without.overheadNs;
  const halfWidth = Math.hypot(half(without.ci95), half(withDelay.ci95));
  const bias = estimate - truth;
  return {
    what: `${name} +${delayNs} ns`,
    unit: 'ns' as const,
    truth,
    estimate,
    bias,
    halfWidth,
    recovered: Math.abs(bias) <= Math.max(TOLERANCE_NS, WIDEN * halfWidth),
  };
}

async function memoryRow(request: CalibrationRequest): Promise<CalibrationRow> {
  request.onStep('memory limit of 4 GiB');
  const { details } = await measureUnder(request, `memory=${MEMORY_LIMIT}`, 'OH-002');
  const estimate = Number(details.limitBytes);
  const bias = estimate - MEMORY_LIMIT;
  const what = 'memory limit, as a tenant sees it';
  return { what, unit: 'bytes', truth: MEMORY_LIMIT, estimate, bias, halfWidth: null, recovered: bias === 0 };
}

async function computeRow(request: CalibrationRequest): Promise<CalibrationRow> {
  const { target, device: wanted, path } = request;
  const limit = `compute limit of ${COMPUTE_LIMIT_PERCENT} %`;
  request.onStep(limit);
  const { device } = resolveOptions(wanted === undefined ? {} : { device: wanted });
  const on: DeviceTarget = { simulatedDriver: target.simulatedDriver, device, path };
  const share = await askUnder(request, `sm=${COMPUTE_LIMIT_PERCENT}`, 'computeShare', { ...COMPUTE_SHARE, on });
  const { busyShare, bins } = share as ComputeShare;
  const estimate = 100 * busyShare;
  const bias = estimate - COMPUTE_LIMIT_PERCENT;
  return {
    what: `${limit}, share of time the device is busy`,
    unit: '%',
    truth: COMPUTE_LIMIT_PERCENT,
    estimate,
    bias,
    halfWidth: halfWidthOfMean(bins.map((bin) => 100 * bin)),
    recovered: Math.abs(bias) <= TOLERANCE_PERCENTAGE_POINTS,
  };
}

/** Half-width of the 95 % interval of the mean of consecutive windows. */
function halfWidthOfMean(samples: readonly number[]): number {
  if (samples.length < 2)
    throw new BenchError(
      'INVALID_RESULT',
      'The device was observed for fewer than two windows of time. Run calibrate again on an idle machine.',
    );
  return tCritical(0.05, SLOW_PARTS) * longRun(samples, neighbourCorrelation(samples)).standardError;
}

export async function calibrate(request: CalibrationRequest): Promise<CalibrationRow[]> {
  const without = await functionsUnder(request, 0);
  const rows: CalibrationRow[] = [];
  for (const delay of DELAYS_NS) {
    const measured = await functionsUnder(request, delay);
    rows.push(...FUNCTIONS.map((name) => rowOf(name, delay, without.get(name), measured.get(name))));
  }
  rows.sort((a, b) => a.what.localeCompare(b.what, 'en', { numeric: true }));
  return [...rows, await memoryRow(request), await computeRow(request)];
}

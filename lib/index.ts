/**
 * gpu-virt-bench measures what sharing an NVIDIA GPU costs and whether its limits hold. Importing loads no driver.
 *
 * Every `measure…` function measures in the calling process (OH-004, OH-006, OH-008, OH-009 and START in fresh
 * workers), one measurement at a time per process. Each resolves to a MetricResult; it rejects with TypeError or
 * RangeError for bad options, with `signal.reason` when aborted, and with BenchError (`code` NO_DRIVER, NO_ADDON,
 * NO_SUCH_DEVICE, …) or CudaError if nothing could be measured. Functions that take settings reject with UsageError
 * (`code` USAGE) where they are wrong. If the driver or GPU lacks a feature, the result has
 * status `unsupported`, never a number.
 */
import type { ComparisonDocument, RunDocument } from './results/document.js';
import type { ExecWorkloadsOptions } from './exec-workloads.js';
import type { CompareSystemsOptions, RunMetricsOptions } from './whole-runs.js';
import type { Monitor } from './monitor/monitor.js';
import type { MonitorOptions } from './monitor/options.js';
import type { LoadResult, LoadSummary } from './load/load-result.js';
import type { LoadOptions } from './load/run-load.js';
import type { LoadSettings } from './settings-types.js';
import type { Format } from './report/formats.js';

export * from './metrics/functions.js';

/**
 * Measures all metrics (or those in `metrics`) in worker processes under the caller's environment: the RunDocument of
 * `gpu-virt-bench run`. An abort resolves with `completed: false` and the results so far.
 *
 * @example
 * ```ts
 * import { runMetrics } from 'gpu-virt-bench';
 *
 * const { metrics } = await runMetrics({ metrics: ['OH-001', 'START-002'] });
 * for (const { id, status, value, unit } of metrics) console.log(id, status, value, unit);
 * ```
 */
export async function runMetrics(options?: RunMetricsOptions): Promise<RunDocument> {
  return (await import('./whole-runs.js')).runMetrics(options);
}

/**
 * Compares systems in interleaved rounds of fresh workers: the document of `gpu-virt-bench compare`; no file is
 * written. `systems` are texts as --system takes them or objects with the keys of the YAML file of --config, proofs
 * included. Rejects where one cannot be measured here (unless `allowMissing`) or has wrong settings; an abort resolves
 * with `completed: false` and the finished rounds.
 *
 * @example
 * ```ts
 * import { compareSystems } from 'gpu-virt-bench';
 *
 * const { effects } = await compareSystems({
 *   systems: [
 *     'native',
 *     {
 *       kind: 'custom',
 *       name: 'mine',
 *       env: { LD_PRELOAD: '/path/layer.so' },
 *       verify: [{ symbolOwner: { symbol: 'cuLaunchKernel', matches: 'layer\\.so$' } }],
 *     },
 *   ],
 *   metrics: ['OH-001', 'OH-005'],
 *   tier: 'quick',
 * });
 * for (const { metric, system, ratio, verdict } of effects) console.log(metric, system, ratio, verdict);
 * ```
 */
export async function compareSystems(options: CompareSystemsOptions): Promise<ComparisonDocument> {
  return (await import('./whole-runs.js')).compareSystems(options);
}

/**
 * Programs under systems, in interleaved rounds: the document of `gpu-virt-bench exec`; no file is written. Ids of metrics
 * begin with the workload's name, such as `NAME/wall` (s) and, under a load, `NAME/ttft` (ms); docs/exec.md has them all. A
 * program that fails is a result with status `failed`. Rejects with UsageError for wrong settings and for a program that
 * does not exist; an abort ends the program and resolves with `completed: false` and the rounds that there are.
 *
 * @example
 * ```ts
 * import { execWorkloads } from 'gpu-virt-bench';
 *
 * const { effects } = await execWorkloads({
 *   systems: ['native', 'mps:sm=50'],
 *   workloads: [
 *     {
 *       name: 'decode',
 *       argv: ['python3', 'decode.py'],
 *       metrics: { tps: { regex: '([0-9.]+) tokens/s', unit: 'tokens/s', direction: 'higher' } },
 *     },
 *   ],
 * });
 * for (const { metric, system, verdict } of effects) console.log(metric, system, verdict);
 * ```
 */
export async function execWorkloads(options: ExecWorkloadsOptions): Promise<ComparisonDocument> {
  return (await import('./exec-workloads.js')).execWorkloads(options);
}

/**
 * A document as a report, in one of the formats of docs/reports.md. Needs no GPU. Rejects with RangeError for another
 * format, with TypeError for anything else than a document.
 *
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises';
 * import { renderReport, runMetrics } from 'gpu-virt-bench';
 *
 * await writeFile('report.html', await renderReport(await runMetrics({ for: 'serving' }), 'html'));
 * ```
 */
export async function renderReport(document: RunDocument | ComparisonDocument, format: Format): Promise<string> {
  return (await import('./rendering.js')).renderReport(document, format);
}

/**
 * Watches GPUs through NVML, outside of any layer, at a set interval (100 ms), which a native thread per GPU keeps while the
 * event loop is busy. Samples go to `csv` and `onSample`; the units are in their names, and a field that NVML does not give
 * is empty in the CSV, null in samples, and named with the reason in the summary. Several monitors may run at a time; none
 * keeps the process alive.
 *
 * Rejects with TypeError or RangeError for bad options, with BenchError (`code` NO_ADDON, NO_DRIVER, NO_SUCH_DEVICE,
 * DRIVER_CONFLICT, NO_THREAD) if nothing can be sampled, and with an Error that names the file if the CSV cannot be
 * written; if that fails later, `onError` is called and `stop` rejects with MonitorError.
 *
 * @example
 * ```ts
 * import { measureKernelLaunch, startMonitor } from 'gpu-virt-bench';
 *
 * const monitor = await startMonitor({ device: 0, intervalMs: 100, csv: 'gpu.csv' });
 * await measureKernelLaunch();
 * const { samples, missedIntervals } = await monitor.stop();
 * console.log(samples, missedIntervals);
 * ```
 */
export async function startMonitor(options?: MonitorOptions): Promise<Monitor> {
  return (await import('./monitor/monitor.js')).startMonitor(options);
}

/**
 * Sends requests to an HTTP endpoint and measures the answers, streams of tokens of OpenAI-compatible servers included:
 * time to first token, intervals between tokens, latency (samples in ms), tokens and requests per second, errors by reason.
 * `concurrency` keeps so many requests under way; `ratePerSecond` sends at the times of a Poisson process, whatever became
 * of the requests before, and counts from these times, so that a slow server cannot slow its own load (open loop, against
 * coordinated omission). No request is repeated. Times are of CLOCK_MONOTONIC, taken when bytes are read.
 *
 * Requests that fail are part of the result. `invalid` says why no number may be used, e.g. because the client was late
 * itself. An abort resolves with `completed: false`. Rejects with UsageError or TypeError for wrong settings.
 *
 * @example
 * ```ts
 * import { runLoad, summariseLoad } from 'gpu-virt-bench';
 *
 * const result = await runLoad({
 *   url: 'http://127.0.0.1:8000/v1/chat/completions',
 *   api: 'chat',
 *   model: 'm',
 *   prompt: 'Tell me story {request}.',
 *   requests: 200,
 *   ratePerSecond: 4,
 * });
 * if (result.invalid === null) console.log(result.tokensPerSecond, (await summariseLoad(result)).ttftMs.median);
 * ```
 */
export async function runLoad(settings: LoadSettings, options?: LoadOptions): Promise<LoadResult> {
  return (await import('./load-settings.js')).runLoad(settings, options);
}

/** Medians with intervals, and percentiles where there are enough samples for them, of a load's samples. */
export async function summariseLoad(result: LoadResult): Promise<LoadSummary> {
  return (await import('./load/load-result.js')).summariseLoad(result);
}

export type {
  ApplicationPath,
  CallEffect,
  Check,
  ComparisonDocument,
  DriverInfo,
  Effect,
  FieldsWithoutNumber,
  FunctionProvenance,
  GpuInfo,
  HostInfo,
  LayerInfo,
  MetricResult,
  OkFields,
  OkResult,
  ProgramCost,
  ResultWithoutNumber,
  RunDocument,
  SeveralCards,
  Stats,
  SymbolPath,
  Tier,
} from './results/document.js';
export type {
  Advice as AnswerAdvice,
  Answer,
  Broken as AnswerViolation,
  Card as AnswerCard,
  Figure as AnswerFigure,
  Line as AnswerLine,
  Question as AnswerQuestion,
  SharedCause,
  Unknown as AnswerGap,
  Word as AnswerWord,
} from './results/answer-schema.js';
export type { GpuPrices, Ranking } from './results/cost-schemas.js';
export type { PurposeName } from './results/text/purpose-names.js';
export type { CompareSystemsOptions, RunMetricsOptions } from './whole-runs.js';
export type { ExecWorkloadsOptions } from './exec-workloads.js';
export type * from './settings-types.js';
export type { MedianEstimate } from './stats/median.js';
export type { Delta, ValueKind } from './stats/rule/effect.js';
export type { LoadErrors, LoadResult, LoadSummary, SampleSummary } from './load/load-result.js';
export type { AnswerEnd } from './load/answer/ends.js';
export type { LoadOptions } from './load/run-load.js';
export type { RequestRecord } from './load/request-record.js';
export type { TokenStream } from './load/answer/openai.js';
export type { OpenAiApi } from './load/answer/openai-api.js';
export type { UnknownPart } from './load/answer/unknown.js';
export type { LoadApi } from './load/load-plan.js';
export { RequestFailure } from './load/request-failure.js';
export type { MissingField } from './monitor/missing.js';
export type { Monitor } from './monitor/monitor.js';
export type { MonitorOptions } from './monitor/options.js';
export type { GpuProcessSample, GpuSample } from './monitor/sample.js';
export { MonitorError, type MonitorSummary, type WatchedGpu } from './monitor/summary.js';
export { getProvenance, type InventoryOptions, listDevices, listMetrics } from './inventory.js';
export type { Format } from './report/formats.js';
export type { Category, MeasureOptions, MetricInfo, Progress } from './metrics/core/metric.js';
export type { PerChoice } from './metrics/core/per.js';
export type { DecoderModel, WorkloadName } from './metrics/llm/workloads.js';

export { CudaError } from './native/errors.js';
export { BenchError, type ErrorCode } from './errors/bench-error.js';
export { UsageError } from './errors/usage-error.js';

/**
 * gpu-virt-bench: what sharing an NVIDIA GPU costs and whether the sharing holds. Importing touches no driver.
 *
 * Every `measure…` function measures in the calling process (OH-004, OH-006, OH-008, OH-009 and START in fresh workers),
 * one measurement at a time per process. Each resolves to a MetricResult; it rejects with TypeError or RangeError for bad
 * options, with `signal.reason` when aborted, and with BenchError (`code` NO_DRIVER, NO_ADDON, NO_SUCH_DEVICE, …) or
 * CudaError where nothing could be measured. What a driver or GPU lacks resolves with status `unsupported`, never with a
 * number.
 */
import type { ComparisonDocument, MetricResult, RunDocument } from './document.js';
import type { CompareSystemsOptions, RunMetricsOptions } from './documents.js';
import type { Format } from './rendering.js';
import { measureMetric } from './metrics/measure.js';
import type { MeasureOptions, MetricDefinition } from './metrics/metric.js';
import { kernelLaunchLatency } from './metrics/overhead/oh-001-kernel-launch-latency.js';
import { memoryAllocationLatency } from './metrics/overhead/oh-002-memory-allocation-latency.js';
import { memoryFreeLatency } from './metrics/overhead/oh-003-memory-free-latency.js';
import { contextCreationOverhead } from './metrics/overhead/oh-004-context-creation-overhead.js';
import { apiInterceptionOverhead } from './metrics/overhead/oh-005-api-interception-overhead.js';
import { lockContention } from './metrics/overhead/oh-006-lock-contention.js';
import { memoryTrackingOverhead } from './metrics/overhead/oh-007-memory-tracking.js';
import { rateLimiterOverhead } from './metrics/overhead/oh-008-rate-limiter.js';
import { monitoringCost } from './metrics/overhead/oh-009-monitoring-cost.js';
import { throughputDegradation } from './metrics/overhead/oh-010-throughput-degradation.js';
import { coldStart } from './metrics/start-up/start-001-cold-start.js';
import { driverInitialisation } from './metrics/start-up/start-002-driver-initialisation.js';
import { primaryContext } from './metrics/start-up/start-003-primary-context.js';
import { moduleLoad } from './metrics/start-up/start-004-module-load.js';
import { gpuDiscovery } from './metrics/start-up/start-005-gpu-discovery.js';
import { concurrentStarts } from './metrics/start-up/start-006-concurrent-starts.js';

const measureFunction =
  (definition: MetricDefinition) =>
  (options?: MeasureOptions): Promise<MetricResult> =>
    measureMetric(definition, options);

/**
 * OH-001, µs: median time from the launch call to the kernel's first instruction; `details.calls[]` has submit, start
 * and round trip for cuLaunchKernel, cuLaunchKernelEx and a one-node graph.
 */
export const measureKernelLaunch = measureFunction(kernelLaunchLatency);

/** OH-002, µs: median time of cuMemAlloc of 2 MiB among 32 live blocks; `details.sizes[]` has every size class. */
export const measureMemoryAllocation = measureFunction(memoryAllocationLatency);

/** OH-003, µs: median time of cuMemFree of 2 MiB, oldest first; `details.sizes[]` has every size and order. */
export const measureMemoryFree = measureFunction(memoryFreeLatency);

/**
 * OH-004, µs: cuInit to the first kernel's result, median over fresh processes (`iterations` is their number, `warmup`
 * how many before them are discarded; `resolution` does not apply).
 */
export const measureContextCreation = measureFunction(contextCreationOverhead);

/**
 * OH-005, ns: what interception adds to a cheap driver call; `details.functions[]` has one signed row a function.
 * `iterations` is the number of paired batches; else a function gets more of them until its half-width is within 2.5 ns, or
 * within `resolution` of the call, or it had fifteen passes.
 */
export const measureApiInterception = measureFunction(apiInterceptionOverhead);

/**
 * OH-006, µs, signed: how much longer cuMemAlloc and cuMemFree of one granule take when as many processes as have a
 * processor each (2, 4 or 8) do the same at once; `details.rows[]` has every operation, topology and number of
 * processes. Processes repeat the operation for the tier's time, so `iterations` and `resolution` do not apply.
 */
export const measureLockContention = measureFunction(lockContention);

/**
 * OH-007, ns: one cuMemAlloc and one cuMemFree of 64 KiB at 1 024 live blocks, on a line through 0 to 16 384 (`quick`:
 * 4 096) of them; `details.slopeNsPerBlock` is what each live block adds. `iterations` is the pairs of a cell;
 * `resolution` does not apply.
 */
export const measureMemoryTracking = measureFunction(memoryTrackingOverhead);

/**
 * OH-008, ns: what a launch takes longer in a tenant with a compute limit than in one without, far below the limit. It
 * needs a system that sets limits, so here, in the environment as it is, it is `unsupported`; `compareSystems` has them.
 */
export const measureRateLimiter = measureFunction(rateLimiterOverhead);

/**
 * OH-009, %: processor time of the threads that driver and layer started in one idle tenant, of one processor;
 * `details.threads[]` has them by name, `details.rows[]` four tenants too. `iterations`, `warmup` and `resolution` do not
 * apply.
 */
export const measureMonitoringCost = measureFunction(monitoringCost);

/**
 * OH-010: units of work a second (copies, a GEMM, attention, small kernels, allocations) in `details.unitsPerSecond`. A
 * loss needs a native arm: alone it is `unsupported`, in a comparison with native its effect is per cent lost, signed.
 */
export const measureThroughput = measureFunction(throughputDegradation);

/**
 * START-001, ms: from the spawn of a process to its first kernel's result on the host, median over fresh processes;
 * `details.steps[]` is the split, `details.betweenSteps` what no step holds. Options as measureContextCreation's.
 */
export const measureColdStart = measureFunction(coldStart);

/** START-002, ms: cuInit alone, median over fresh processes; `details.steps[]` has the rest of their starts. */
export const measureDriverInitialisation = measureFunction(driverInitialisation);

/**
 * START-003, ms: cuDevicePrimaryCtxRetain and cuCtxSetCurrent, median over fresh processes; `details.release` is the
 * release of that context.
 */
export const measurePrimaryContext = measureFunction(primaryContext);

/**
 * START-004, ms: loading the embedded PTX with an empty compilation cache of its own, median over fresh processes;
 * `details.loads[]` has a row for that cold cache and one for the warm cache it leaves. `iterations` counts such pairs.
 */
export const measureModuleLoad = measureFunction(moduleLoad);

/**
 * START-005, ms: nvmlInit, count, and handle, name, UUID, memory, PCI id and MIG mode of every GPU, median over fresh
 * processes; `details.steps[]` by call, `details.warm` the same repeated in those processes, `details.nvml` whose
 * functions were called. `unsupported` without NVML.
 */
export const measureGpuDiscovery = measureFunction(gpuDiscovery);

/**
 * START-006, ms: mean time from the release of many fresh processes at once to each one's first result, at the largest
 * number of them (`details.largest`); `details.starts[]` has a row a number, `details.slopes` what one more process
 * costs. `iterations` is how often each number is released.
 */
export const measureConcurrentStarts = measureFunction(concurrentStarts);

/**
 * All metrics (or those of `metrics`) in worker processes under the caller's environment: the RunDocument of
 * `gpu-virt-bench run`. An abort resolves with `completed: false` and what there is.
 */
export const runMetrics = async (options?: RunMetricsOptions): Promise<RunDocument> =>
  (await import('./documents.js')).runMetrics(options);

/** Systems side by side, in interleaved rounds of fresh workers: the document of `gpu-virt-bench compare`. */
export const compareSystems = async (options: CompareSystemsOptions): Promise<ComparisonDocument> =>
  (await import('./documents.js')).compareSystems(options);

/**
 * A document as a report: `markdown`, `html` (one page with charts), `csv`, `junit`, `openmetrics`, `bencher` or `json`.
 * Needs no GPU. Rejects with RangeError for another format, with TypeError for what is no document.
 */
export const renderReport = async (document: RunDocument | ComparisonDocument, format: Format): Promise<string> =>
  (await import('./rendering.js')).renderReport(document, format);

export type {
  Check,
  ComparisonDocument,
  Effect,
  FunctionProvenance,
  GpuInfo,
  MetricResult,
  RunDocument,
  Stats,
  SymbolPath,
  Tier,
} from './document.js';
export type { CompareSystemsOptions, RunMetricsOptions } from './documents.js';
export { getProvenance, listDevices, listMetrics, type MetricInfo } from './inventory.js';
export type { Format } from './rendering.js';
export type { MeasureOptions, Progress } from './metrics/metric.js';
export { BenchError, CudaError, type ErrorCode } from './native/errors.js';

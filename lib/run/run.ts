/** Measures one round of one system: turns a request into a document. */
import { type Check, type MetricResult, type RunDocument, SCHEMA_VERSION } from '../results/document.js';
import { gpuInfo } from '../environment/gpu.js';
import { hostInfo } from '../environment/host.js';
import { Sampler, type Samples, samplingInterval } from '../environment/sampler.js';
import { toolVersion } from '../environment/tool.js';
import { messageOf } from '../errors/message-of.js';
import { CLEAN_UP, measureMetric, type Surroundings } from '../metrics/core/measure.js';
import { Once } from '../metrics/core/once.js';
import type { MetricDefinition, Progress } from '../metrics/core/metric.js';
import type { NativeDevice } from '../native/addon-types.js';
import { BenchError } from '../errors/bench-error.js';
import { readGpuState } from '../native/gpu-state.js';
import { groundTruthOf } from '../native/ground-truth.js';
import { seenDriver } from '../systems/proof/hidden-interception.js';
import { functionProvenance } from '../systems/proof/interception.js';
import type { ProcessCounts } from '../systems/proof/process-proofs.js';
import { removeAbandonedDirectories } from '../systems/process/run-directory.js';
import { type System, systemHead } from '../systems/system.js';
import { withDeadline } from './deadline.js';
import { type Choice, chooseDevice, hiddenGpusOr } from './plan/device.js';
import { healthWarnings, lookBefore, refuseUnhealthy, strictly, summariseAfter } from './health-summary.js';
import { Lane, type Prepared, type WireOptions } from './lane.js';
import { defaultTimeoutSeconds, type Plan } from './plan/plan.js';
import { processesText } from './plan/processes-per-round.js';
import { disowned, emptyResult, failedResult, pidMapping, sortedById } from './effects/results.js';
import { type ChosenTarget, targetWarnings } from './plan/target.js';

export interface RunRequest {
  plan: Plan;
  target: ChosenTarget;
  system: System;
  /** The value of --device; undefined lets the environment decide. */
  device: string | undefined;
  requireGpu: boolean;
  /** Options of every metric; `plan` supplies tier and seed, `device` the device. */
  options: Omit<WireOptions, 'device' | 'tier' | 'seed' | 'simulate'> & Required<Pick<WireOptions, 'path'>>;
  /** Deadline of each metric; null: the defaults. */
  timeoutSeconds: number | null;
  /** Whether to refuse a machine that is not idle, and to invalidate a disturbed number. */
  strict: boolean;
  /** Further entries for the document's plan, e.g. the measured programs. */
  recorded?: Readonly<Record<string, unknown>>;
  /** The health checks before the first measurement, if they were made already (a comparison makes them once). */
  before?: readonly Check[];
  /** Whether this is a further process of a round: only values are wanted. Default false. */
  headlineOnly?: boolean;
  signal: AbortSignal;
}

export interface RunHooks {
  /** Receives the warnings that can be given before anything is measured. */
  onPrepared: (prepared: Prepared, choice: Choice, warnings: readonly string[]) => void;
  /** What the run waits for until a worker can measure, e.g. `the worker process to start`. */
  onWaiting?: (what: string) => void;
  onMetric: (definition: MetricDefinition) => void;
  onProgress: (progress: Progress) => void;
  onResult: (result: MetricResult) => void;
  /** Receives the output of a worker and the layer in it, once the worker has ended. */
  onLog?: (text: string) => void;
  /** Called as soon as a proof fails. */
  onFailedProof?: (reason: string) => void;
}

/** Limits what a worker does before it measures, which `--timeout` bounds too. */
export const patienceOf = (
  { timeoutSeconds }: Pick<RunRequest, 'timeoutSeconds'>,
  { onWaiting }: Pick<RunHooks, 'onWaiting'>,
) => ({ patienceMs: timeoutSeconds === null ? undefined : 1_000 * timeoutSeconds, onWaiting });

/**
 * Runs metrics. Rejects if nothing could be measured at all; a failed metric is a result. After an abort, returns the
 * results so far.
 */
export async function runMetrics(request: RunRequest, hooks: RunHooks): Promise<RunDocument> {
  const startedAt = new Date();
  const began = performance.now();
  const { simulatedDriver } = request.target;
  const { device, options } = request;
  const lane = new Lane(
    request.system,
    { simulatedDriver, device, path: options.path, patience: patienceOf(request, hooks) },
    request.signal,
    hooks,
  );
  try {
    await removeAbandonedDirectories();
    const prepared = await prepare(request, lane);
    const { inspection } = prepared.description;
    if (request.requireGpu && inspection.simulated)
      throw new BenchError(
        'NO_DRIVER',
        `${inspection.libcuda} is the simulated driver: take its folder out of LD_LIBRARY_PATH.`,
      );
    const choice = chooseDevice(inspection.devices, request.device, request.system.environment().CUDA_VISIBLE_DEVICES);
    const before = request.before ?? (await lookBefore(request.target, choice.device.uuid, request.signal));
    refuseUnhealthy(before, request.strict);
    const known = [...knownWarnings(request, prepared), ...(request.before ? [] : healthWarnings(before))];
    hooks.onPrepared(prepared, choice, known);
    const { results, notCheckedAfter, samples, coordinatorCpuPercent } = await measureSampled(
      request,
      hooks,
      lane,
      prepared,
      choice,
    );
    const after = summariseAfter(results, samples);
    return {
      ...identity(startedAt),
      durationMs: performance.now() - began,
      ...describePrepared(request, prepared, choice.device, { notCheckedAfter, processes: lane.proofs.counts }),
      ...describeResults(request, results),
      plan: describePlan(request, choice.device.index),
      health: { before: [...before], after },
      coordinatorCpuPercent,
      ...(samples && { sampler: samples }),
      warnings: [
        ...known,
        ...(notCheckedAfter === undefined ? [] : [notCheckedWarning(request, notCheckedAfter)]),
        ...healthWarnings(after),
        ...cleanUpWarnings(results),
        ...interruptionWarnings(request, results),
      ],
    };
  } finally {
    await lane.close();
  }
}

/**
 * Starts the first worker. If the caller's own environment hides the GPUs, the error says so: the caller can change
 * that, but not a system's environment.
 */
async function prepare({ system }: RunRequest, lane: Lane): Promise<Prepared> {
  try {
    return await lane.prepare();
  } catch (error) {
    throw system.isCallers ? hiddenGpusOr(error, system.environment().CUDA_VISIBLE_DEVICES) : error;
  }
}

async function measureSampled(
  request: RunRequest,
  hooks: RunHooks,
  lane: Lane,
  prepared: Prepared,
  choice: Choice,
): Promise<Attested & { samples: Samples | undefined; coordinatorCpuPercent: number }> {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const read = () => readGpuState(request.target, choice.device.uuid, 'readings');
  const sampler = new Sampler(read, samplingInterval(request.plan.estimatedSeconds));
  try {
    const attested = await measureAttested(request, hooks, lane, prepared, choice);
    const samples = await sampler.stop();
    const { user, system } = process.cpuUsage(cpu);
    return { ...attested, samples, coordinatorCpuPercent: (user + system) / 10 / (performance.now() - began) };
  } finally {
    await sampler.stop();
  }
}

interface Attested {
  results: MetricResult[];
  /** Why workers could not be checked again after they measured. */
  notCheckedAfter?: string;
}

/**
 * Measures metrics. No number is published under a system's name unless its processes were shown to be under it, before
 * and after.
 */
async function measureAttested(
  request: RunRequest,
  hooks: RunHooks,
  lane: Lane,
  { attestation }: Prepared,
  choice: Choice,
): Promise<Attested> {
  if (attestation.invalid !== undefined) return { results: allInvalid(request, attestation.invalid) };
  const { uuid } = choice.device;
  const truth = attestation.groundTruth === 'none' ? null : groundTruthOf(request.target, uuid);
  const shared = { system: request.system, once: new Once(), proofs: lane.proofs, truth, card: choice.device };
  const measured = await measureAll(request, hooks, lane, uuid, shared);
  try {
    const { invalid } = request.signal.aborted ? attestation : await lane.lookAgain();
    if (invalid !== undefined) return { results: allInvalid(request, `${invalid} (after measuring)`) };
    return await standing(request, lane, measured);
  } catch (error) {
    return standing(request, lane, measured, request.signal.aborted ? [] : [messageOf(error)]);
  }
}

/**
 * Returns the results without withdrawn numbers and those that --strict invalidates, with a note if a worker could not
 * be checked again.
 */
async function standing(
  request: RunRequest,
  lane: Lane,
  measured: readonly MetricResult[],
  lookFailures: readonly string[] = [],
): Promise<Attested> {
  await lane.close();
  const results = measured.map((result) => withoutTakenBack(result, lane.takenBack));
  const notSeen = [...lane.notSeenAgain, ...lookFailures];
  return {
    results: request.strict ? results.map(strictly) : results,
    ...(notSeen.length > 0 && { notCheckedAfter: notSeen.join('; ') }),
  };
}

const notCheckedWarning = ({ system }: RunRequest, reason: string): string =>
  `${system.name}: could not check whether it was still active after measuring: ${reason}`;

const allInvalid = ({ plan }: RunRequest, reason: string): MetricResult[] =>
  plan.metrics.map((definition) => emptyResult(definition, 'invalid', reason));

async function measureAll(
  request: RunRequest,
  hooks: RunHooks,
  lane: Lane,
  device: string,
  shared: Surroundings,
): Promise<MetricResult[]> {
  const results: MetricResult[] = [];
  for (const definition of request.plan.metrics) {
    if (request.signal.aborted) break;
    hooks.onMetric(definition);
    const began = performance.now();
    const add = (result: MetricResult) => results.push({ ...result, durationMs: performance.now() - began });
    try {
      add(await measureOne(request, hooks, lane, definition, device, shared));
    } catch (error) {
      if (request.signal.aborted) break;
      add(failedResult(definition, error));
    }
    hooks.onResult(results.at(-1) as MetricResult);
  }
  return results;
}

async function measureOne(
  request: RunRequest,
  hooks: RunHooks,
  lane: Lane,
  definition: MetricDefinition,
  device: string,
  shared: Surroundings,
) {
  const { plan, signal, target, headlineOnly = false } = request;
  const { onProgress } = hooks;
  const planned = plan.processes?.[definition.id];
  const deadlineMs = 1_000 * (request.timeoutSeconds ?? defaultTimeoutSeconds(definition, plan.tier));
  const common = { device, tier: plan.tier, seed: plan.seed, simulate: target.simulate };
  if (definition.where === 'process') {
    // Statistics over all processes of a round need their samples.
    const samples = request.options.samples === true || planned !== undefined;
    const options = { ...request.options, ...common, samples };
    return lane.measure(definition, { options, headlineOnly, deadlineMs, onProgress });
  }
  // A waiting worker keeps the driver initialised, so a fresh process would start faster than without it.
  await lane.close();
  return withDeadline(deadlineMs, signal, (bounded) =>
    measureMetric(
      definition,
      { ...request.options, ...common, signal: bounded, onProgress },
      { ...shared, plannedProcesses: planned },
    ),
  );
}

function withoutTakenBack(result: MetricResult, takenBack: ReadonlyMap<string, string>): MetricResult {
  const reason = takenBack.get(result.id);
  return reason === undefined ? result : disowned(result, reason);
}

export function identity(startedAt: Date): Pick<RunDocument, 'schemaVersion' | 'kind' | 'tool' | 'startedAt'> {
  return {
    schemaVersion: SCHEMA_VERSION,
    kind: 'run',
    tool: { name: 'gpu-virt-bench', version: toolVersion() },
    startedAt: startedAt.toISOString(),
  };
}

function describePrepared(
  { system }: RunRequest,
  { description, attestation }: Prepared,
  device: NativeDevice,
  { notCheckedAfter, processes }: { notCheckedAfter: string | undefined; processes: ProcessCounts },
) {
  return {
    host: hostInfo(),
    gpu: [gpuInfo(description.inspection, device)],
    driver: seenDriver(description),
    groundTruth: attestation.groundTruth,
    system: {
      ...systemHead(system),
      ...(attestation.layer && { layer: attestation.layer }),
      attestation: attestation.proofs,
      ...(notCheckedAfter !== undefined && { notCheckedAfter }),
      processes,
    },
    provenance: functionProvenance(description.provenance),
  };
}

function describeResults({ plan }: RunRequest, results: readonly MetricResult[]) {
  return {
    completed: results.length === plan.metrics.length,
    pidMapping: pidMapping(results),
    metrics: sortedById(results),
  };
}

export function describePlan(
  { plan, options, target, timeoutSeconds, strict, recorded }: Omit<RunRequest, 'system'>,
  device: number,
): RunDocument['plan'] {
  const { path, ...rest } = options;
  return {
    tier: plan.tier,
    metrics: plan.metrics.map(({ id }) => id),
    ...(plan.purpose && { purpose: plan.purpose }),
    ...(processesText(plan.processes) !== null && { processes: { ...plan.processes } }),
    rounds: 1,
    seed: plan.seed,
    device,
    path,
    options: { ...rest, simulate: target.simulate, timeoutSeconds, strict, ...recorded },
  };
}

function knownWarnings({ system }: RunRequest, { description, attestation }: Prepared): string[] {
  const all = [...targetWarnings(description.inspection, system.environment()), ...attestation.warnings];
  if (attestation.groundTruth === 'none')
    all.push(
      '/etc/ld.so.preload names a GPU layer: every process is hooked, so nothing here was checked against the bare GPU.',
    );
  return all;
}

const cleanUpWarnings = (results: readonly MetricResult[]): string[] =>
  results.flatMap(({ id, checks }) =>
    checks.filter(({ name }) => name === CLEAN_UP).map(({ name, detail }) => `${id}: not all ${name}: ${detail}`),
  );

function interruptionWarnings({ plan }: RunRequest, results: readonly MetricResult[]): string[] {
  if (results.length === plan.metrics.length) return [];
  return [`Interrupted: ${results.length} of ${plan.metrics.length} metrics were measured.`];
}

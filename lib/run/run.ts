/** Measures one round of one system: turns a request into a document. */
import type { MetricResult, RunDocument } from '../results/document.js';
import { CLEAN_UP } from '../metrics/core/measure.js';
import { BenchError } from '../errors/bench-error.js';
import { removeAbandonedDirectories } from '../systems/process/run-directory.js';
import { NotActive } from '../systems/proof/not-active.js';
import { cardsOf, type Choice, chooseDevice, hiddenGpusOr } from './plan/device.js';
import { firstEntry } from '../environment/named-gpu.js';
import { targetWarnings } from './plan/target.js';
import { healthWarnings, lookBefore, refuseUnhealthy, summariseAfter } from './health-summary.js';
import { Lane, type Prepared } from './lane.js';
import { measureSampled } from './measure-sampled.js';
import { describePlan, describePrepared, describeResults, identity } from './run-document.js';
import { patienceOf, type RunHooks, type RunRequest } from './run-request.js';

/**
 * Runs metrics. Rejects if nothing could be measured at all; a failed metric is a result. After an abort, returns the
 * results so far.
 */
export async function runMetrics(request: RunRequest, hooks: RunHooks): Promise<RunDocument> {
  const startedAt = new Date();
  const began = performance.now();
  const { simulatedDriver } = request.target;
  const { options } = request;
  const device = firstEntry(request.device);
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
    const choice = chosenFor(request, prepared);
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
      ...describePrepared(request, prepared, cardsOf(choice), { notCheckedAfter, processes: lane.proofs.counts }),
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

/** A process that was led to another GPU is no wrong argument of the caller's. */
function chosenFor({ device, system }: RunRequest, { description, attestation }: Prepared): Choice {
  try {
    return chooseDevice(description.inspection.devices, device, system.environment().CUDA_VISIBLE_DEVICES);
  } catch (error) {
    if (system.ownGpu?.() === undefined || attestation.invalid === undefined) throw error;
    throw new NotActive(attestation.invalid.replace(/^layer not active: /, ''));
  }
}

const notCheckedWarning = ({ system }: RunRequest, reason: string): string =>
  `${system.name}: could not check whether it was still active after measuring: ${reason}`;

function knownWarnings({ system }: RunRequest, { description, attestation }: Prepared): string[] {
  const all = [...targetWarnings(description.inspection, system.environment()), ...attestation.warnings];
  if (attestation.groundTruth === 'none')
    all.push(
      attestation.noTruth ??
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

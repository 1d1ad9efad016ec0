/** Measures the metrics of a run under a proven system, while the state of the card is sampled. */
import type { MetricResult } from '../results/document.js';
import { Sampler, type Samples, samplingInterval } from '../environment/sampler.js';
import { messageOf } from '../errors/message-of.js';
import { Once } from '../metrics/core/once.js';
import { readGpuState } from '../native/gpu-state.js';
import { groundTruthOf, truthBy } from '../native/ground-truth.js';
import { disowned, emptyResult } from './effects/results.js';
import { strictly } from './health-summary.js';
import type { Lane, Prepared } from './lane.js';
import { measureAll } from './measure-all.js';
import type { Choice } from './plan/device.js';
import type { RunHooks, RunRequest } from './run-request.js';

export async function measureSampled(
  request: RunRequest,
  hooks: RunHooks,
  lane: Lane,
  prepared: Prepared,
  choice: Choice,
): Promise<Attested & { samples: Samples | undefined; coordinatorCpuPercent: number }> {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const { nvml } = request;
  const read = () =>
    nvml === undefined ? readGpuState(request.target, choice.device.uuid, 'readings') : (nvml?.state() ?? nothing());
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

const nothing = () => Promise.resolve(null);

const truthFor = ({ nvml, target }: RunRequest, uuid: string) =>
  nvml === undefined ? groundTruthOf(target, uuid) : nvml && truthBy(nvml);

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
  const truth = attestation.groundTruth === 'none' ? null : truthFor(request, uuid);
  const { system, leastMemoryBytes } = request;
  const shared = {
    system,
    once: new Once(),
    proofs: lane.proofs,
    truth,
    card: choice.device,
    cards: choice.cards,
    leastMemoryBytes,
  };
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

const allInvalid = ({ plan }: RunRequest, reason: string): MetricResult[] =>
  plan.metrics.map((definition) => emptyResult(definition, 'invalid', reason));

function withoutTakenBack(result: MetricResult, takenBack: ReadonlyMap<string, string>): MetricResult {
  const reason = takenBack.get(result.id);
  return reason === undefined ? result : disowned(result, reason);
}

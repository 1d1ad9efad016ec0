/** One round of one system: measured, or a document that says why it was not. */
import type { Check, RunDocument } from '../results/document.js';
import { checksBefore } from '../environment/machine-health.js';
import { hostInfo } from '../environment/host.js';
import { BenchError } from '../errors/bench-error.js';
import { messageOf } from '../errors/message-of.js';
import { UsageError } from '../errors/usage-error.js';
import { isMissingFunction } from '../metrics/core/row-state.js';
import { reapFailure } from '../systems/process/reaped.js';
import { NotActive } from '../systems/proof/not-active.js';
import { isMeasuredNow, SOLE_TENANT, type System, systemHead } from '../systems/system.js';
import type { CompareHooks, CompareRequest } from './compare-request.js';
import { emptyResult, sortedById } from './effects/results.js';
import type { Round } from './finished-round.js';
import { lookBefore } from './health-summary.js';
import type { Truth } from './look-around.js';
import { uuidsOf } from './plan/device.js';
import { makePlan } from './plan/plan.js';
import { runMetrics } from './run.js';
import { identity } from './run-document.js';
import type { RunHooks } from './run-request.js';

/** Distance between the seeds of a round's processes. Rounds have consecutive seeds. */
const PROCESS_SEEDS = 1_009;

/**
 * Measures one round of a system; null if it was interrupted before its worker could measure, where earlier rounds are
 * kept. A round that fails as a whole gets a document of failed metrics, and the other rounds are still measured.
 */
export async function oneRoundOrWhyNot(
  request: CompareRequest,
  hooks: CompareHooks,
  truth: Truth,
  round: number,
  index: number,
  further: number | null,
): Promise<Round | null> {
  const { unavailable, provesByKernels = false } = request.systems[index] as System;
  if (unavailable !== null) return emptyRound(request, truth, index, 'unsupported', unavailable);
  let failedProof: string | undefined;
  let log = '';
  const onFailedProof = (reason: string) => {
    failedProof ??= reason;
    hooks.onFailedProof?.(reason);
  };
  const onLog = (text: string) => void (log += text);
  try {
    const document = await oneRound(request, { ...hooks, onFailedProof, onLog }, truth, round, index, further);
    return { document, origin: 'measured', log, failedProof };
  } catch (error) {
    if (request.signal.aborted) return null;
    if (isUsage(error)) throw error;
    if (error instanceof NotActive)
      return { ...emptyRound(request, truth, index, 'invalid', error.message), log, failedProof: error.message };
    // The system itself needs it, beside what every metric does.
    const status = provesByKernels && isMissingFunction(error) ? 'unsupported' : 'failed';
    return { ...emptyRound(request, truth, index, status, messageOf(error)), log, failedProof };
  }
}

/** Whether the caller can correct an error, which then ends the comparison. */
const isUsage = (error: unknown): boolean =>
  error instanceof UsageError || (error instanceof BenchError && error.code === 'SIM_SETTINGS');

async function oneRound(
  request: CompareRequest,
  hooks: CompareHooks & Pick<RunHooks, 'onLog'>,
  truth: Truth,
  round: number,
  index: number,
  further: number | null,
): Promise<RunDocument> {
  const system = request.systems[index] as System;
  hooks.onRound(round, system, further);
  try {
    await system.prepareTenant(SOLE_TENANT);
    const { metrics, tier, seed, purpose = null, processes } = request.plan;
    // Seeds of different processes differ, because they choose the processors that are visited first.
    const own = seed + round + PROCESS_SEEDS * (further ?? 0);
    const plan = { ...makePlan(metrics, tier, own, purpose), processes };
    const { choice, nvml: nvmlOf } = truth;
    const ownGpu = system.ownGpu?.()?.uuid;
    const nvml = nvmlOf && nvmlOf(ownGpu ?? choice.device.uuid);
    const before = await beforeOn(request, truth, system.isPlaced === true ? ownGpu : undefined);
    const headlineOnly = further !== null;
    const document = await runMetrics(
      {
        ...request,
        plan,
        system,
        device: ownGpu ?? uuidsOf(choice),
        before,
        ...(nvml !== undefined && { nvml }),
        headlineOnly,
        leastMemoryBytes: leastMemory(request.systems),
      },
      hooks,
    );
    const failure = await reapFailure(system, SOLE_TENANT);
    return failure === null ? document : { ...document, warnings: [...document.warnings, failure] };
  } catch (error) {
    const failure = await reapFailure(system, SOLE_TENANT);
    // Changes the message in place, so that the error's class still says whether the caller can correct it.
    if (failure !== null && error instanceof Error) error.message += ` ${failure}`;
    throw error;
  }
}

/** The health of the card that a round has, where it is not that of the comparison. */
async function beforeOn(
  { target, signal }: CompareRequest,
  { before, nvml }: Truth,
  other: string | undefined,
): Promise<Check[]> {
  if (other === undefined) return before;
  return nvml === undefined
    ? lookBefore(target, other, signal)
    : checksBefore(nvml && (await nvml(other).state()), null);
}

function leastMemory(systems: readonly System[]): number | null {
  const limits = systems.filter(isMeasuredNow).flatMap((system) => system.limits().memoryBytes ?? []);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** A round of a system that was given up. */
export function givenUpRound(
  request: CompareRequest,
  truth: Truth,
  index: number,
  reason: string | undefined,
): Round | null {
  return reason === undefined ? null : emptyRound(request, truth, index, 'invalid', reason);
}

/** A document for a round that was not measured, with the reason instead of every number. */
function emptyRound(
  request: CompareRequest,
  truth: Truth,
  index: number,
  status: 'unsupported' | 'invalid' | 'failed',
  reason: string,
): Round {
  const system = request.systems[index] as System;
  const document: RunDocument = {
    ...identity(new Date()),
    durationMs: 0,
    completed: true,
    host: hostInfo(),
    ...truth.circumstances,
    groundTruth: 'nvml',
    pidMapping: 'none',
    system: { ...systemHead(system), attestation: [] },
    provenance: [],
    metrics: sortedById(request.plan.metrics.map((definition) => emptyResult(definition, status, reason))),
    health: { before: truth.before, after: [] },
    coordinatorCpuPercent: 0,
    warnings: [`${system.name}: ${reason}`],
  };
  return { document, origin: 'not measured', log: '' };
}

/** Runs a metric definition and returns a MetricResult: the only place where errors become statuses. */
import type { Check, MetricResult } from '../../results/document.js';
import { BenchError } from '../../errors/bench-error.js';
import { CudaError } from '../../native/errors.js';
import { CLOCK_CHECK, judgeClock } from '../../native/clock.js';
import type { GroundTruth } from '../../native/ground-truth.js';
import { loadAddon, simulatedDriver } from '../../native/load.js';
import { Session } from '../../native/session.js';
import { blockMedians } from '../../stats/blocks.js';
import { environmentSystem } from '../../systems/process/environment.js';
import { ProcessProofs } from '../../systems/proof/process-proofs.js';
import { SOLE_TENANT, type System } from '../../systems/system.js';
import { ownServers } from '../../environment/mps.js';
import { withCheckedDetails } from './checked-details.js';
import { healthChecks, healthDetails, judgeScheduling, ownPidMapping, SCHEDULING_CHECK } from './health-log.js';
import {
  type MeasureContext,
  type Measured,
  type MeasureOptions,
  type MetricDefinition,
  type ResolvedOptions,
  resultHead,
  unsupported,
  withoutNumber,
} from './metric.js';
import { impossibleValue } from './impossible.js';
import { figuresOf } from './sample-stats.js';
import { ownSignal } from '../../workers/own-signal.js';
import type { Spares } from '../tenants/spares.js';
import { Once } from './once.js';
import { GIB } from './units.js';
import { resolveOptions } from './options.js';
import { doesNotFit, isMissingFunction, isTooSmall } from './row-state.js';

/** The check that fails if state of a metric's tenants could not be removed. */
export const CLEAN_UP = 'state of tenants removed';

export interface Surroundings {
  /** The system whose workers are started. Default: the environment as it is. */
  system?: System;
  /** Counts and judges the processes that it starts. Default: all must match the first of them. */
  proofs?: ProcessProofs;
  /** Results shared by the metrics of a round. Default: none. */
  once?: Once;
  /** Processes that tenants of a round may be. Default: none. */
  spares?: Spares;
  /** Readings of the coordinator's NVML. Default: none, because the process may be hooked. */
  truth?: GroundTruth | null;
  /** The GPU that the coordinator chose. Default: none. */
  card?: MeasureContext['card'];
  /** The GPUs that the coordinator chose for metrics of several. Default: all that are visible. */
  cards?: MeasureContext['cards'];
  /** The process is a worker of this tool. Default false. */
  inWorker?: boolean;
  /** Only the value is wanted. Default false. */
  headlineOnly?: boolean;
  /** The smallest memory limit of a comparison's systems; null: none has one. Default: that of the system. */
  leastMemoryBytes?: number | null | undefined;
  /** Processes that the round's plan gives the metric. Default: the metric's own number. */
  plannedProcesses?: number | undefined;
}

/**
 * Rejects with TypeError or RangeError for bad options, with `signal.reason` when aborted, with BenchError or CudaError
 * if nothing could be measured at all (no driver, no such device, cuInit failed). Later failures resolve with status
 * `failed`, `invalid` or `unsupported` and a reason.
 */
export async function measureMetric(
  definition: MetricDefinition,
  options: MeasureOptions = {},
  surroundings: Surroundings = {},
): Promise<MetricResult> {
  const resolved = resolveOptions(options);
  options.signal?.throwIfAborted();
  const signal = ownSignal(options.signal);
  const opened: Session[] = [];
  const left: string[] = [];
  let opening = true;
  const target = { simulatedDriver: simulatedDriver(resolved.simulate), device: resolved.device, path: resolved.path };
  const system = surroundings.system ?? environmentSystem(process.env);
  const proofs = surroundings.proofs ?? new ProcessProofs(system);
  const context: MeasureContext = {
    options: resolved,
    signal,
    simulatedDriver: target.simulatedDriver,
    inWorker: surroundings.inWorker ?? false,
    headlineOnly: surroundings.headlineOnly ?? false,
    plannedProcesses: surroundings.plannedProcesses ?? null,
    system,
    leastMemoryBytes:
      surroundings.leastMemoryBytes === undefined ? system.limits().memoryBytes : surroundings.leastMemoryBytes,
    prove: async (worker, tenant = SOLE_TENANT) => {
      await proofs.prove(worker, { phase: 'process', tenant, target, signal });
    },
    proofs,
    card: surroundings.card ?? null,
    cards: surroundings.cards ?? null,
    truth: surroundings.truth ?? null,
    once: surroundings.once ?? new Once(),
    spares: surroundings.spares ?? null,
    progress: (step, fraction, warning) =>
      options.onProgress?.({ id: definition.id, step, fraction, ...(warning !== undefined && { warning }) }),
    leftBehind: (what) => void left.push(what),
    session: async () => {
      const session = opened[0] ?? (await Session.open(target, signal));
      if (opened.length === 0) opened.push(session);
      opening = false;
      return session;
    },
  };
  try {
    if (definition.where === 'fresh-processes') opened.push(await Session.turn(signal));
    const measured = await definition.measure(context);
    context.progress('done', 1);
    const vouched = await withScheduling(byOwnClock(definition, possible(definition, measured)), definition, opened[0]);
    return withCheckedDetails(definition, withCleanUp(toResult(definition, resolved, vouched, opened[0]), left));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (opening && definition.where === 'process' && !isMissingFunction(error)) throw error;
    const isFull =
      isTooSmall(error) && (error.memoryIsShort || (await isShortOfMemory(context, opening ? undefined : opened[0])));
    const state = isFull ? unsupported(doesNotFit(error)) : stateOf(error);
    if (!state) throw error;
    return withCleanUp(toResult(definition, resolved, state, opened[0]), left);
  } finally {
    await opened[0]?.close();
  }
}

const withCheck = <T extends { checks: Check[] }>(of: T, check: Check): T => ({ ...of, checks: [...of.checks, check] });

function withCleanUp(result: MetricResult, left: readonly string[]): MetricResult {
  if (left.length === 0) return result;
  return withCheck(result, { name: CLEAN_UP, passed: false, detail: left.join('; ') });
}

/** A number that cannot be is no result. */
function possible(definition: MetricDefinition, measured: Measured): Measured {
  if ((measured.status ?? 'ok') !== 'ok') return measured;
  const why = impossibleValue(definition, { ...measured, unit: definition.unit });
  return why === null ? measured : { ...measured, status: 'invalid', reason: `impossible: ${why}` };
}

/** Times taken with an interposed clock are invalid. Other processes check their own clocks. */
function byOwnClock(definition: MetricDefinition, measured: Measured): Measured {
  if (definition.where !== 'process' || (measured.status ?? 'ok') !== 'ok') return measured;
  const { passed, detail, invalid } = judgeClock(loadAddon().clockReading());
  const check: Check = { name: CLOCK_CHECK, passed: passed ?? 'not checked', detail };
  if (invalid !== null) return withCheck(withoutNumber('invalid', invalid), check);
  return withCheck(measured, check);
}

/** A host that sleeps while it waits measures the scheduler; a host program may have created its context that way. */
async function withScheduling(
  measured: Measured,
  definition: MetricDefinition,
  session: Session | undefined,
): Promise<Measured> {
  if (definition.where !== 'process' || !session || (measured.status ?? 'ok') !== 'ok') return measured;
  const scheduling = await session.ask('scheduling');
  const check: Check = { name: SCHEDULING_CHECK, ...judgeScheduling(scheduling) };
  return withCheck({ ...measured, details: { ...measured.details, scheduling } }, check);
}

/** Free memory with which every metric fits: a refusal there is a failure of the driver or of a layer. */
const PLENTY = 4 * GIB;

/** Asks NVML, or else the process; true if neither knows, as where no context fits. */
async function isShortOfMemory({ truth, leastMemoryBytes }: MeasureContext, session?: Session): Promise<boolean> {
  const free =
    (await truth?.cardMemory())?.freeBytes ?? (await session?.ask('tenantMemory').catch(() => null))?.freeBytes;
  return Math.min(free ?? 0, leastMemoryBytes ?? Infinity) < PLENTY;
}

function stateOf(error: unknown): Measured | null {
  if (error instanceof CudaError) return withoutNumber('failed', error.message);
  if (!(error instanceof BenchError)) return null;
  if (isMissingFunction(error)) return withoutNumber('unsupported', error.message);
  if (error.code === 'INVALID_RESULT') return withoutNumber('invalid', error.message);
  if (error.code === 'WORKER') return withoutNumber('failed', error.message);
  return null;
}

function toResult(
  definition: MetricDefinition,
  options: ResolvedOptions,
  measured: Measured,
  session: Session | undefined,
): MetricResult {
  const figures = figuresOf(measured);
  const samples = figures.status === 'ok' ? measured.headline : null;
  const log = session?.healthLog ?? [];
  const health = healthDetails(log);
  const pidMapping = ownPidMapping(log);
  return {
    ...resultHead(definition),
    ...figures,
    ciScope: measured.ciScope ?? 'within-process',
    processes: measured.processes ?? 1,
    ...(samples && { blocks: blockMedians(measured.blocks ?? samples) }),
    ...(options.samples && samples && { samples: Array.from(samples) }),
    details: { ...measured.details, ...(pidMapping && { pidMapping }), ...(health && { health }) },
    checks: [...measured.checks, ...healthChecks(log, figures.stats, ownServers(process.env), definition)],
    ...(measured.violations?.length && { violations: measured.violations.map((detail) => ({ detail })) }),
  };
}

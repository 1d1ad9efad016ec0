/**
 * Compares systems: interleaved rounds of fresh workers, one run document each, then effects against the first system.
 */
import { randomUUID } from 'node:crypto';
import { answered } from '../answer/answer.js';
import { type Check, type ComparisonDocument, type RunDocument, SCHEMA_VERSION } from '../results/document.js';
import { byMetricId } from '../results/metric-order.js';
import { gpuInfo } from '../environment/gpu.js';
import { hostInfo } from '../environment/host.js';
import { instanceVariables } from '../environment/named-gpu.js';
import { checkTemporary } from '../environment/temporary.js';
import { toolVersion } from '../environment/tool.js';
import { messageOf } from '../errors/message-of.js';
import { UsageError } from '../errors/usage-error.js';
import { BenchError } from '../errors/bench-error.js';
import { seenDriver } from '../systems/proof/hidden-interception.js';
import { baseEnvironment } from '../systems/process/base-environment.js';
import { makeRunDirectory, removeAbandonedDirectories } from '../systems/process/run-directory.js';
import { removeDirectory } from '../systems/process/state-files.js';
import { reapFailure } from '../systems/process/reaped.js';
import { violationsIn } from '../results/violations.js';
import { NotActive } from '../systems/proof/not-active.js';
import { SOLE_TENANT, type System, systemHead } from '../systems/system.js';
import { type Description, describe, failureToLook } from '../workers/description.js';
import { localStart } from '../workers/local.js';
import { Worker } from '../workers/worker.js';
import { type ComputeLimit, labelComputeLimit } from './effects/compute-limit.js';
import { type Choice, chooseDevice, hiddenGpusOr } from './plan/device.js';
import type { FinishedRound, Round } from './finished-round.js';
import { measureFurther, withFurther } from './effects/further-workers.js';
import { disturbances, healthWarnings, lookBefore, refuseUnhealthy } from './health-summary.js';
import { conclusionsOf } from './effects/judged.js';
import { roundOrder } from './plan/order.js';
import { makePlan } from './plan/plan.js';
import { emptyResult, sortedById } from './effects/results.js';
import { checkResumable, checkSameBuild, checkSameSystem, type Circumstances } from './resume.js';
import { describePlan, identity, type RunHooks, patienceOf, runMetrics, type RunRequest } from './run.js';

/** Distance between the seeds of a round's processes. Rounds have consecutive seeds. */
const PROCESS_SEEDS = 1_009;

export interface CompareRequest extends Omit<RunRequest, 'system'> {
  /** Systems to compare; the first is the baseline. */
  systems: readonly System[];
  rounds: number;
  /**
   * Rounds of an earlier run of the same request, by system and round, which are not measured again. Rounds of another
   * request are refused.
   */
  finished: readonly (readonly (RunDocument | undefined)[])[];
  /** Keep systems that cannot be measured here as `unsupported` and measure the others. Default false: refuse. */
  allowMissing?: boolean;
  /** Measure further rounds of a system after one of its proofs failed. Default false. */
  keepGoing?: boolean;
  /** The caller's environment; workers inherit an allow-list of it. */
  environment: NodeJS.ProcessEnv;
}

export interface CompareHooks extends Omit<RunHooks, 'onLog'> {
  /** Receives the warnings that can be given before anything is measured. */
  onStart: (choice: Choice, warnings: readonly string[]) => void;
  /** Called before the compute limit of each system is checked, which takes no time where there is none. */
  onComputeLimit: (system: System) => void;
  /**
   * Called before a worker starts. `further`: the number of a further worker, from 1; null for the one that measures
   * everything.
   */
  onRound: (round: number, system: System, further: number | null) => void;
  /** Called when a proof of a system failed, whose further rounds are then not measured. */
  onGivenUp?: (system: System) => void;
  /** Receives a finished round and is awaited, so that a round that was announced as finished is on disk. */
  onDocument: (round: number, systemIndex: number, finished: FinishedRound) => Promise<void>;
}

interface Truth {
  description: Description;
  choice: Choice;
  before: Check[];
}

export async function compareSystems(request: CompareRequest, hooks: CompareHooks): Promise<ComparisonDocument> {
  refuseUnavailable(request);
  const startedAt = new Date();
  const began = performance.now();
  checkTemporary();
  await removeAbandonedDirectories();
  const directory = await makeRunDirectory();
  const order = roundOrder(
    request.systems.map((_, index) => index),
    request.rounds,
    request.plan.seed,
  );
  const documents: RunDocument[][] = request.systems.map(() => []);
  const warnings: string[] = [];
  const computeLimits: ComputeLimit[] = [];
  /** Reason, by system index, why further rounds are not measured. */
  const givenUp = new Map<number, string>();
  let stopped: ComparisonDocument['stopped'];
  const keep = async (round: number, index: number, next: Round) => {
    const { document, failedProof } = next;
    checkSameBuild(finishedOf(request, index), document);
    // The proof would most likely fail again, and a round takes minutes.
    if (failedProof !== undefined && !request.keepGoing && round + 1 < request.rounds) {
      givenUp.set(index, notMeasuredAfter(round, failedProof));
      hooks.onGivenUp?.(request.systems[index] as System);
    }
    (documents[index] as RunDocument[])[round] = document;
    if (document.completed) await hooks.onDocument(round, index, next);
  };
  try {
    const truth = await lookAround(request, hooks);
    checkResumable(request.finished.flat().filter(Boolean) as RunDocument[], circumstances(request, truth));
    refuseUnhealthy(truth.before, request.strict);
    await prepareAll(request, truth, directory);
    request.systems.forEach((system, index) => checkSameSystem(finishedOf(request, index), systemHead(system)));
    hooks.onStart(truth.choice, healthWarnings(truth.before));
    computeLimits.push(...(await labelAll(request, hooks, truth, warnings)));
    for (const [round, indexes] of order.entries()) {
      stopped = round === 0 ? undefined : nothingLeft(request, givenUp, round);
      if (stopped) break;
      const known = (index: number) =>
        reusedRound(request, round, index) ?? givenUpRound(request, truth, index, givenUp.get(index));
      const isMeasured = (index: number) => request.systems[index]?.unavailable === null && known(index) === null;
      const further = await measureFurther(indexes.filter(isMeasured), request.plan, async (index, metrics, worker) => {
        if (request.signal.aborted) return null;
        const part = { ...request, plan: { ...request.plan, metrics: [...metrics] } };
        return oneRoundOrWhyNot(part, hooks, truth, round, index, worker);
      });
      for (const index of indexes) {
        if (request.signal.aborted) break;
        const whole = known(index) ?? (await oneRoundOrWhyNot(request, hooks, truth, round, index, null));
        if (!whole) break;
        const keepSamples = request.options.samples === true;
        await keep(round, index, withFurther(whole, further.get(index) ?? [], request.plan, keepSamples));
      }
    }
  } finally {
    warnings.push(...(await tearDownAll(request.systems)), ...(await removeDirectory(directory)));
  }
  return answered({
    schemaVersion: SCHEMA_VERSION,
    kind: 'comparison',
    tool: { name: 'gpu-virt-bench', version: toolVersion() },
    startedAt: startedAt.toISOString(),
    durationMs: performance.now() - began,
    ...(stopped && { stopped }),
    completed: documents.every((rounds) => rounds.filter(({ completed }) => completed).length === request.rounds),
    plan: {
      tier: request.plan.tier,
      ...(request.plan.purpose && { purpose: request.plan.purpose }),
      metrics: request.plan.metrics.map(({ id }) => id).sort(byMetricId),
      systems: request.systems.map(({ name }) => name),
      rounds: request.rounds,
      seed: request.plan.seed,
      order: order.map((indexes) => indexes.map((index) => request.systems[index]?.name ?? '')),
    },
    systems: documents.map((rounds) => rounds.filter(Boolean)),
    ...conclusionsOf(sortedDefinitions(request), documents),
    computeLimits,
    violations: violationsIn(documents.flat().filter(Boolean)),
    warnings: [...(stopped ? [stopped.detail] : []), ...warnings, ...reuseNote(documents), ...disturbances(documents)],
  });
}

const finishedOf = ({ finished }: CompareRequest, index: number): RunDocument[] =>
  (finished[index] ?? []).filter((document) => document !== undefined);

function reusedRound({ finished }: CompareRequest, round: number, index: number): Round | null {
  const document = finished[index]?.[round];
  return document ? { document: { ...document, reused: true }, origin: 'reused', log: '' } : null;
}

function givenUpRound(request: CompareRequest, truth: Truth, index: number, reason: string | undefined): Round | null {
  return reason === undefined ? null : emptyRound(request, truth, index, 'invalid', reason);
}

/** Adds why a round was not measured. The original reason comes first: documents are searched by their beginning. */
const notMeasuredAfter = (round: number, failedProof: string): string =>
  `${failedProof.replace(/\.$/, '')}. Not measured after round ${round + 1}; --keep-going measures further rounds.`;

/**
 * Why the comparison stops: fewer than two systems are left. Undefined if it goes on; a single system was never to be
 * compared.
 */
function nothingLeft(
  { systems, rounds, keepGoing }: CompareRequest,
  givenUp: ReadonlyMap<number, string>,
  done: number,
): ComparisonDocument['stopped'] {
  const lost = systems.filter(({ unavailable }, index) => unavailable !== null || givenUp.has(index));
  if (keepGoing || systems.length < 2 || systems.length - lost.length >= 2) return undefined;
  const names = lost.map(
    ({ name, unavailable }) => `${name} ${unavailable === null ? 'was not active' : 'is missing'}`,
  );
  return {
    because: givenUp.size > 0 ? 'not active' : 'missing',
    detail: `Stopped after round ${done} of ${rounds}: nothing is left to compare (${names.join(', ')}). --keep-going measures the others.`,
  };
}

function reuseNote(documents: readonly (readonly RunDocument[])[]): string[] {
  const all = documents.flat();
  const reused = all.filter((document) => document.reused).length;
  return reused === 0 ? [] : [`${reused} of ${all.length} rounds were measured before --resume and are reused.`];
}

/** Throws UsageError if the comparison would lack one of the requested systems. */
export function refuseUnavailable({
  systems,
  allowMissing = false,
}: Pick<CompareRequest, 'systems' | 'allowMissing'>): void {
  const missing = systems.filter(({ unavailable }) => unavailable !== null);
  if (allowMissing || missing.length === 0) return;
  const reasons = missing.map(({ name, unavailable }) => `${name}: ${unavailable}`).join('; ');
  throw new UsageError(
    `Not every system can be measured here (${reasons}). Provide what is missing, or measure the others with --allow-missing.`,
  );
}

/**
 * Measures one round of a system; null if it was interrupted before its worker could measure, where earlier rounds are
 * kept. A round that fails as a whole gets a document of failed metrics, and the other rounds are still measured.
 */
async function oneRoundOrWhyNot(
  request: CompareRequest,
  hooks: CompareHooks,
  truth: Truth,
  round: number,
  index: number,
  further: number | null,
): Promise<Round | null> {
  const { unavailable } = request.systems[index] as System;
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
    return { ...emptyRound(request, truth, index, 'failed', messageOf(error)), log, failedProof };
  }
}

/** Whether the caller can correct an error, which then ends the comparison. */
const isUsage = (error: unknown): boolean =>
  error instanceof UsageError || (error instanceof BenchError && error.code === 'SIM_SETTINGS');

const sortedDefinitions = ({ plan }: CompareRequest) => [...plan.metrics].sort((a, b) => byMetricId(a.id, b.id));

/** Variables that select the GPU without --device. The driver reads them itself, so it decides on order and UUIDs. */
const selection = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    (['CUDA_VISIBLE_DEVICES', 'CUDA_DEVICE_ORDER'] as const).flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** Describes the GPUs by a worker without a layer, because the coordinator makes no CUDA call. */
async function lookAround(request: CompareRequest, hooks: CompareHooks): Promise<Truth> {
  const { target, environment, device, signal } = request;
  const visible = device === undefined ? selection(environment) : instanceVariables(device);
  const worker = await Worker.start({
    start: localStart({ ...baseEnvironment(environment), ...visible }),
    signal,
    ...patienceOf(request, hooks),
  });
  try {
    const description = await describe(worker, target, signal);
    const { CUDA_VISIBLE_DEVICES: named } = environment;
    const failure = failureToLook(description);
    if (failure) throw hiddenGpusOr(failure, named);
    const choice = chooseDevice(description.inspection.devices, device, named);
    return { description, choice, before: await lookBefore(target, choice.device.uuid, signal) };
  } finally {
    await worker.stop();
  }
}

async function prepareAll(request: CompareRequest, { choice, description }: Truth, directory: string) {
  const { systems, target, signal, timeoutSeconds } = request;
  const runId = randomUUID().slice(0, 8);
  const gpu = choice.device;
  const otherGpus = description.inspection.devices.map(({ uuid }) => uuid).filter((uuid) => uuid !== gpu.uuid);
  const run = { runId, directory, gpu, otherGpus, target, signal };
  for (const system of systems.filter(({ unavailable }) => unavailable === null))
    await system.prepare({ ...run, ...(timeoutSeconds !== null && { timeoutMs: 1_000 * timeoutSeconds }) });
}

async function labelAll(
  request: CompareRequest,
  hooks: CompareHooks,
  { choice }: Truth,
  warnings: string[],
): Promise<ComputeLimit[]> {
  const { systems, target, plan, options, signal } = request;
  const where = {
    simulatedDriver: target.simulatedDriver,
    device: choice.device.uuid,
    path: options.path,
    patience: patienceOf(request, hooks),
  };
  const labels: ComputeLimit[] = [];
  for (const system of systems) {
    if (signal.aborted) break;
    hooks.onComputeLimit(system);
    const label = await labelComputeLimit(system, where, plan.tier, signal, (what) => void warnings.push(what));
    if (label) labels.push(label);
  }
  return labels;
}

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
    const { choice, before } = truth;
    const headlineOnly = further !== null;
    const document = await runMetrics(
      { ...request, plan, system, device: choice.device.uuid, before, headlineOnly },
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

function circumstances(request: CompareRequest, { description, choice }: Truth): Circumstances {
  const { inspection } = description;
  return {
    gpu: [gpuInfo(inspection, choice.device)],
    driver: seenDriver(description),
    plan: describePlan(request, choice.device.index),
  };
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
    ...circumstances(request, truth),
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

/** Tears all systems down even if one fails, which is only a warning: the results are kept. */
async function tearDownAll(systems: readonly System[]): Promise<string[]> {
  const outcomes = await Promise.allSettled(systems.map((system) => system.teardown()));
  return outcomes.flatMap((outcome, index) =>
    outcome.status === 'fulfilled' ? [] : [`${systems[index]?.name}: teardown failed: ${messageOf(outcome.reason)}`],
  );
}

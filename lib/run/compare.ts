/**
 * Compares systems: interleaved rounds of fresh workers, one run document each, then effects against the first system.
 */
import { answered } from '../answer/answer.js';
import { checkTemporary } from '../environment/temporary.js';
import { toolVersion } from '../environment/tool.js';
import { type ComparisonDocument, type RunDocument, SCHEMA_VERSION } from '../results/document.js';
import { severalCardsText } from '../results/cards.js';
import { byMetricId } from '../results/metric-order.js';
import { violationsIn } from '../results/violations.js';
import { makeRunDirectory, removeAbandonedDirectories } from '../systems/process/run-directory.js';
import { removeDirectory } from '../systems/process/state-files.js';
import { type System, systemHead } from '../systems/system.js';
import type { CompareHooks, CompareRequest } from './compare-request.js';
import type { ComputeLimit } from './effects/compute-limit.js';
import { measureFurther, withFurther } from './effects/further-workers.js';
import { conclusionsOf } from './effects/judged.js';
import type { Round } from './finished-round.js';
import { nothingLeft, notMeasuredAfter } from './given-up.js';
import { disturbances, healthWarnings, refuseUnhealthy } from './health-summary.js';
import { lookAround } from './look-around.js';
import { givenUpRound, oneRoundOrWhyNot } from './measured-round.js';
import { roundOrder } from './plan/order.js';
import { refuseUnavailable } from './plan/unavailable.js';
import { labelAll, prepareAll, tearDownAll } from './prepare.js';
import { checkRecorded, recordedNote } from './recorded-arm.js';
import { checkResumable, checkSameBuild, checkSameSystem } from './resume.js';

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
    const planned = request.plan.metrics.map(({ id }) => id).sort(byMetricId);
    for (const [index, { picksGpu, isPlaced, recordedIn }] of request.systems.entries()) {
      const finished = finishedOf(request, index);
      if (recordedIn === undefined) checkResumable(finished, truth.circumstances, picksGpu || isPlaced);
      else {
        checkRecorded(finished, truth.circumstances, recordedIn);
        warnings.push(recordedNote(finished, recordedIn, planned));
      }
    }
    warnings.push(...truth.warnings);
    refuseUnhealthy(truth.before, request.strict);
    await prepareAll(request, truth, directory);
    for (const [index, system] of request.systems.entries())
      if (system.recordedIn === undefined) checkSameSystem(finishedOf(request, index), systemHead(system));
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
  const conclusions = conclusionsOf(sortedDefinitions(request), documents);
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
    ...conclusions,
    computeLimits,
    violations: violationsIn(documents.flat().filter(Boolean)),
    warnings: [
      ...(stopped ? [stopped.detail] : []),
      ...warnings,
      ...reuseNote(documents),
      ...(conclusions.cards ?? []).map(severalCardsText),
      ...disturbances(documents),
    ],
  });
}

const finishedOf = ({ finished }: CompareRequest, index: number): RunDocument[] =>
  (finished[index] ?? []).filter((document) => document !== undefined);

function reusedRound({ finished, systems }: CompareRequest, round: number, index: number): Round | null {
  const document = finished[index]?.[round];
  if (!document) return null;
  return systems[index]?.recordedIn === undefined
    ? { document: { ...document, reused: true }, origin: 'reused', log: '' }
    : { document: { ...document, recorded: true }, origin: 'recorded', log: '' };
}

function reuseNote(documents: readonly (readonly RunDocument[])[]): string[] {
  const all = documents.flat();
  const reused = all.filter((document) => document.reused).length;
  return reused === 0 ? [] : [`${reused} of ${all.length} rounds were measured before --resume and are reused.`];
}

const sortedDefinitions = ({ plan }: CompareRequest) => [...plan.metrics].sort((a, b) => byMetricId(a.id, b.id));

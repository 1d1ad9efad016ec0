/**
 * The further workers of a round: which metrics each measures, in which order systems take turns, and how their
 * documents join that of the worker that measures everything.
 */
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { areOnOneCard } from '../../results/cards.js';
import type { Round } from '../finished-round.js';
import { hasStillAValue, joinedDocument } from './joined-processes.js';
import type { Plan } from '../plan/plan.js';
import { checkSameBuild } from '../resume.js';

/** The metrics of each further worker of one system in a round. */
export function furtherWorkers({ metrics, processes = {} }: Plan): MetricDefinition[][] {
  const inWorkers = metrics.filter(({ where }) => where === 'process');
  const countOf = ({ id }: MetricDefinition) => processes[id] ?? 1;
  const workers = Math.max(1, ...inWorkers.map(countOf)) - 1;
  return Array.from({ length: workers }, (_, worker) => inWorkers.filter((metric) => countOf(metric) > worker + 1));
}

/** Measures these metrics in the `worker`-th further worker of a system, from 1; null if interrupted. */
type Measure = (system: number, metrics: readonly MetricDefinition[], worker: number) => Promise<Round | null>;

/**
 * Measures the further workers of these systems, which are in the order of the round. Further workers come first in the
 * round and alternate, so that what disturbs the machine for a while affects all systems. Metrics that take long come
 * after them and can be kept as soon as they are measured.
 */
export async function measureFurther(
  systems: readonly number[],
  plan: Plan,
  measure: Measure,
): Promise<Map<number, Round[]>> {
  const rounds = new Map(systems.map((system): [number, Round[]] => [system, []]));
  for (const [worker, metrics] of furtherWorkers(plan).entries())
    for (const system of worker % 2 === 0 ? systems : systems.toReversed()) {
      const its = rounds.get(system) as Round[];
      const documents = its.map(({ document }) => document);
      const wanted = metrics.filter((metric) => hasStillAValue(metric, documents));
      if (wanted.length === 0) continue;
      const next = await measure(system, wanted, worker + 1);
      if (!next) return rounds;
      checkSameBuild(documents, next.document);
      its.push(next);
    }
  return rounds;
}

const leftOut = (count: number): string =>
  `${count} further ${count === 1 ? 'process' : 'processes'} of the round ran on another card, and ${count === 1 ? 'is' : 'are'} left out`;

/** Joins a system's round with its further workers; one that was not measured now stays as it is. */
export function withFurther(whole: Round, further: readonly Round[], plan: Plan, keepSamples: boolean): Round {
  if (whole.origin !== 'measured' || furtherWorkers(plan).length === 0) return whole;
  const all = [...further, whole];
  checkSameBuild(
    further.map(({ document }) => document),
    whole.document,
  );
  // One that was not measured says why.
  const joined = further.filter(
    ({ document, origin }) => origin !== 'measured' || areOnOneCard(document, whole.document),
  );
  const documents = joined.map(({ document }) => document);
  const document = joinedDocument(whole.document, documents, plan.metrics, keepSamples);
  const elsewhere = further.length - joined.length;
  return {
    document: elsewhere === 0 ? document : { ...document, warnings: [...document.warnings, leftOut(elsewhere)] },
    origin: whole.origin,
    log: all.map(({ log }) => log).join(''),
    failedProof: all.find(({ failedProof }) => failedProof !== undefined)?.failedProof,
  };
}

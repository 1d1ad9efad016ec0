/** The further workers of a round: which metrics each measures, in which order systems take turns, and what is joined. */
import type { MetricDefinition } from '../metrics/metric.js';
import { hasStillAValue, joinedDocument } from './joined-processes.js';
import type { Plan } from './plan.js';
import { checkSameBuild } from './resume.js';
import type { Round } from './finished-round.js';

/** The metrics of each further worker of one system in a round. */
export function furtherWorkers({ metrics, processes = {} }: Plan): MetricDefinition[][] {
  const inWorkers = metrics.filter(({ where }) => where === 'process');
  const countOf = ({ id }: MetricDefinition) => processes[id] ?? 1;
  const workers = Math.max(1, ...inWorkers.map(countOf)) - 1;
  return Array.from({ length: workers }, (_, worker) => inWorkers.filter((metric) => countOf(metric) > worker + 1));
}

export interface FurtherWorkers {
  plan: Plan;
  keepSamples: boolean;
  /** Measures these metrics in another worker of the system, the `process`-th of its round; null if interrupted. */
  measure: (system: number, metrics: readonly MetricDefinition[], process: number) => Promise<Round | null>;
}

/**
 * Measures the further workers of a round, and joins them with the first ones. `firsts` is by system, in the order in
 * which they ran. Systems alternate from one worker to the next, so that what disturbs the machine for a while affects
 * all of them.
 */
export async function withFurtherWorkers(
  firsts: ReadonlyMap<number, Round>,
  { plan, keepSamples, measure }: FurtherWorkers,
): Promise<Map<number, Round>> {
  const rounds = new Map([...firsts].map(([system, first]) => [system, [first]]));
  const measured = [...firsts].filter(([, { origin }]) => origin === 'measured').map(([system]) => system);
  let wasInterrupted = false;
  for (const [worker, metrics] of furtherWorkers(plan).entries())
    for (const system of worker % 2 === 0 ? measured.toReversed() : measured) {
      const its = rounds.get(system) as [Round, ...Round[]];
      const documents = its.map(({ document }) => document);
      const wanted = metrics.filter((metric) => hasStillAValue(metric, documents));
      if (wasInterrupted || wanted.length === 0) continue;
      const next = await measure(system, wanted, worker + 2);
      wasInterrupted ||= !next?.document.completed;
      if (!next) continue;
      checkSameBuild(documents, next.document);
      its.push(next);
    }
  return new Map(
    [...rounds].map(([system, its]) => {
      const [first, ...others] = its as [Round, ...Round[]];
      if (first.origin !== 'measured') return [system, first];
      const further = others.map(({ document }) => document);
      const joined = joinedDocument(first.document, further, plan.metrics, keepSamples);
      return [
        system,
        {
          document: wasInterrupted ? { ...joined, completed: false } : joined,
          origin: first.origin,
          log: its.map(({ log }) => log).join(''),
          failedProof: its.find(({ failedProof }) => failedProof !== undefined)?.failedProof,
        },
      ];
    }),
  );
}

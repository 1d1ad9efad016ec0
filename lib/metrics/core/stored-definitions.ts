/**
 * Metrics of programs. Users define them, so a saved document contains their definitions. Their ids contain a slash,
 * unlike ids of this tool's own metrics.
 */
import * as v from 'valibot';
import type { MetricResult, RunDocument } from '../../results/document.js';
import { type ResultDocument, roundsOf } from '../../results/kinds.js';
import { byMetricId } from '../../results/metric-order.js';
import type { Delta } from '../../stats/rule/effect.js';
import type { MetricDefinition } from './metric.js';
import { perChoices } from './per.js';
import { findMetric, metrics } from '../registry.js';

export const isOfProgram = (id: string): boolean => id.includes('/');

/** Index of the slash before the key; the id of a scene's victim has one more part before it. */
const keyAt = (id: string): number => {
  const first = id.indexOf('/');
  return Math.max(first, id.indexOf('/', first + 1));
};

/** `decode@batch=8` of `decode@batch=8/wall`, and `scene/victim` of `scene/victim/wall/alone`. */
export const workloadOf = (id: string): string => id.slice(0, keyAt(id));

/** `wall` of `decode@batch=8/wall`, and `wall/alone` of `scene/victim/wall/alone`. */
export const keyOf = (id: string): string => id.slice(keyAt(id) + 1);

const size = v.pipe(v.number(), v.finite(), v.minValue(0));
const deltaSchema = v.union([v.strictObject({ relative: size }), v.strictObject({ absolute: size })]);
/** A failed result may have lost its details. */
const DEFAULT_DELTA: Delta = { relative: 0.02 };

function deltaIn(results: readonly MetricResult[]): Delta {
  const found = results.map(({ details }) => v.safeParse(deltaSchema, details.delta)).find(({ success }) => success);
  return found?.success ? found.output : DEFAULT_DELTA;
}

function perIn(results: readonly MetricResult[]): Pick<MetricDefinition, 'per'> {
  const per = perChoices.find((choice) => results.some(({ details }) => details.per === choice));
  return per ? { per } : {};
}

function recovered(id: string, results: readonly MetricResult[]): MetricDefinition {
  const { name, unit, direction, estimator } = results[0] as MetricResult;
  return {
    id,
    name,
    unit,
    direction,
    estimator,
    category: 'workload',
    question: '',
    delta: deltaIn(results),
    ...perIn(results),
    needs: [],
    functionName: 'execWorkloads',
    where: 'fresh-processes',
    seconds: { quick: 0, standard: 0, thorough: 0 },
    measure: () => Promise.reject(new Error(`unreachable: ${id} is of a saved document`)),
  };
}

/** Metrics of programs, by id. */
export function programMetricsIn(rounds: readonly RunDocument[]): MetricDefinition[] {
  const results = rounds.flatMap(({ metrics: all }) => all.filter(({ id }) => isOfProgram(id)));
  return [...new Set(results.map(({ id }) => id))].sort(byMetricId).map((id) =>
    recovered(
      id,
      results.filter((result) => result.id === id),
    ),
  );
}

/** The definitions of all metrics that have results in the rounds, if they are known. */
export function definitionsIn(rounds: readonly RunDocument[]): MetricDefinition[] {
  const ids = rounds.flatMap(({ metrics: all }) => all.map(({ id }) => id));
  return [...[...new Set(ids)].sort(byMetricId).flatMap((id) => findMetric(id) ?? []), ...programMetricsIn(rounds)];
}

/** This tool's own, and those of the programs that the documents are about. */
export const metricsOf = (...documents: readonly ResultDocument[]): MetricDefinition[] => [
  ...metrics,
  ...programMetricsIn(documents.flatMap(roundsOf)),
];

/** A metric of this tool, or of a program in the document. */
export const findMetricOf = (document: ResultDocument, id: string): MetricDefinition | undefined =>
  isOfProgram(id) ? programMetricsIn(roundsOf(document)).find((metric) => metric.id === id) : findMetric(id);

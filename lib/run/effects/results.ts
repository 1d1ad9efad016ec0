/** Makes results without a number, sorts results, and reads from them how PIDs map. */
import type { MetricResult, ResultWithoutNumber, RunDocument } from '../../results/document.js';
import { byMetricId } from '../../results/metric-order.js';
import { messageOf } from '../../errors/message-of.js';
import { doesNotFit, isMissingFunction, isTooSmall } from '../../metrics/core/row-state.js';
import { type MetricDefinition, resultHead } from '../../metrics/core/metric.js';
import { BenchError } from '../../errors/bench-error.js';

/** The result of a metric whose measurement threw an error. */
export function failedResult(definition: MetricDefinition, error: unknown): MetricResult {
  if (isTooSmall(error)) return emptyResult(definition, 'unsupported', doesNotFit(error));
  return emptyResult(definition, statusOf(error), messageOf(error));
}

function statusOf(error: unknown): ResultWithoutNumber['status'] {
  if (isMissingFunction(error)) return 'unsupported';
  return error instanceof BenchError && error.code === 'INVALID_RESULT' ? 'invalid' : 'failed';
}

/** A result without a measurement, with the reason. */
export function emptyResult(
  definition: MetricDefinition,
  status: ResultWithoutNumber['status'],
  reason: string,
): ResultWithoutNumber {
  return {
    ...resultHead(definition),
    status,
    reason,
    value: null,
    ci95: null,
    ciScope: 'within-process',
    processes: 0,
    stats: null,
    details: {},
    checks: [],
  };
}

/** Removes an unproven number, and the details derived from it. */
export function disowned(result: MetricResult, reason: string): ResultWithoutNumber {
  const { samples: _samples, blocks: _blocks, violations: _violations, ...kept } = result;
  return { ...kept, status: 'invalid', reason, value: null, ci95: null, stats: null, details: {} };
}

export function sortedById(results: readonly MetricResult[]): MetricResult[] {
  return [...results].sort((a, b) => byMetricId(a.id, b.id));
}

const mappings: readonly unknown[] = ['same', 'difference', 'none'] satisfies RunDocument['pidMapping'][];

/**
 * How PIDs map, from OH-004, which compares NVML's lists with and without its context, and from the other metrics,
 * which check whether their own PID is listed.
 */
export function pidMapping(results: readonly MetricResult[]): RunDocument['pidMapping'] {
  const seen = results.map(({ details }) => details.pidMapping).filter((mapping) => mappings.includes(mapping));
  return (seen.find((mapping) => mapping !== 'none') ?? 'none') as RunDocument['pidMapping'];
}

/** Shared by OH-004 and START-001 to START-003: one value per fresh process, from its whole start. */
import * as v from 'valibot';
import type { Check } from '../../results/document.js';
import { median } from '../../stats/median.js';
import type { StartUpAnswer } from '../../workers/start-up.js';
import { startChecks, startContext, startDetails, stepRows, timesRow } from '../tenants/fresh-processes.js';
import { early } from '../tenants/early-initialisation.js';
import { count, described, interval, quantity, rows, text } from '../core/details.js';
import { invalidBy, type Measured } from '../core/metric.js';
import { NS_PER_MS } from '../core/units.js';

export const milliseconds = (times: readonly number[]) => timesRow(times, 'valueMs', NS_PER_MS);

/** Fields of `milliseconds`. */
export const timesMs = (about: string) => ({
  valueMs: quantity('ms', about),
  ci95: interval('ms', 'valueMs'),
  count: count('Times behind the median'),
});

export const timesOf = (what: string) => described(v.strictObject(timesMs('Median time')), what);

/** A row per step: `step` says what it is. */
export const stepTable = (step: string, about: string) =>
  rows(v.strictObject({ step: text(step), ...timesMs('Median time of the step') }), about);

/** Details that all metrics of whole starts have. */
export const startFields = {
  steps: stepTable('The step of a start', 'A row per step of a start, in order'),
  context: startContext,
};

/** `timeOf` picks a process's value, in nanoseconds. */
export function measuredStarts<Own extends object>(
  starts: readonly StartUpAnswer[],
  timeOf: (start: StartUpAnswer) => number,
  own: { details: Own; checks?: Check[]; early?: string | null },
) {
  const headline = Float64Array.from(starts, (start) => timeOf(start) / NS_PER_MS);
  const checks = [...startChecks(starts), ...(own.checks ?? [])];
  return {
    ...invalidBy(checks),
    ...early(own.early ?? null),
    ...median(headline),
    processes: starts.length,
    ciScope: 'between-processes' as const,
    headline,
    details: {
      ...own.details,
      steps: stepRows(starts, 'valueMs', NS_PER_MS),
      ...startDetails(starts),
    },
    checks,
  } satisfies Measured;
}

/** What START-001 to START-003 have in common: one value per fresh process, out of its whole start. */
import type { Check } from '../../document.js';
import { median } from '../../stats/median.js';
import type { StartUpAnswer } from '../../workers/start-up.js';
import {
  type Batch,
  invalidBy,
  PROCESSES,
  startChecks,
  startDetails,
  startMany,
  stepRows,
  timesRow,
} from '../fresh-processes.js';
import type { Measured, MeasureContext } from '../metric.js';
import { NS_PER_MS } from '../units.js';

export const milliseconds = (times: readonly number[]) => timesRow(times, 'valueMs', NS_PER_MS);

/** Fresh processes that each retain the primary context and do first work, as many as the options ask for. */
export async function startsAsked(context: MeasureContext): Promise<StartUpAnswer[]> {
  const { iterations, tier, warmup } = context.options;
  const count = iterations ?? PROCESSES[tier];
  const discarded = warmup ?? 0;
  const primary: Omit<Batch, 'count' | 'done'> = { contextApi: 'cuDevicePrimaryCtxRetain', total: discarded + count };
  await startMany(context, { ...primary, count: discarded, done: 0 });
  return startMany(context, { ...primary, count, done: discarded });
}

/** `timeOf` picks a process's value, in nanoseconds. */
export function measuredStarts(
  starts: readonly StartUpAnswer[],
  timeOf: (start: StartUpAnswer) => number,
  own: { details?: Record<string, unknown>; checks?: Check[] } = {},
): Measured {
  const headline = Float64Array.from(starts, (start) => timeOf(start) / NS_PER_MS);
  const checks = [...startChecks(starts), ...(own.checks ?? [])];
  return {
    ...invalidBy(checks),
    ...median(headline),
    processes: starts.length,
    ciScope: 'between-processes',
    headline,
    details: {
      ...own.details,
      steps: stepRows(starts, 'valueMs', NS_PER_MS),
      ...startDetails(starts),
    },
    checks,
  };
}

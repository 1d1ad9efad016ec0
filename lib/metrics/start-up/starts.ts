/** Shared by OH-004 and START-001 to START-003: one value per fresh process, from its whole start. */
import type { Check } from '../../results/document.js';
import { median } from '../../stats/median.js';
import type { StartUpAnswer } from '../../workers/start-up.js';
import { startChecks, startDetails, stepRows, timesRow } from '../tenants/fresh-processes.js';
import { early } from '../tenants/early-initialisation.js';
import { invalidBy, type Measured } from '../core/metric.js';
import { NS_PER_MS } from '../core/units.js';

export const milliseconds = (times: readonly number[]) => timesRow(times, 'valueMs', NS_PER_MS);

/** `timeOf` picks a process's value, in nanoseconds. */
export function measuredStarts(
  starts: readonly StartUpAnswer[],
  timeOf: (start: StartUpAnswer) => number,
  own: { details?: Record<string, unknown>; checks?: Check[]; early?: string | null } = {},
): Measured {
  const headline = Float64Array.from(starts, (start) => timeOf(start) / NS_PER_MS);
  const checks = [...startChecks(starts), ...(own.checks ?? [])];
  return {
    ...invalidBy(checks),
    ...early(own.early ?? null),
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

/** Checks the details of fresh results against the schema of their metric: in tests, because it costs time. */
import * as v from 'valibot';
import type { MetricResult } from '../../results/document.js';
import { commonDetails } from './details.js';
import type { MetricDefinition } from './metric.js';

/** Set by the tests. */
const isSwitchedOn = (): boolean => process.env.GVB_CHECK_DETAILS === '1';

/** The schema of all details of a metric's results; those without a number may have any part of them. */
function detailsSchema({ details }: MetricDefinition, status: MetricResult['status']) {
  if (details === undefined) return v.record(v.string(), v.unknown());
  const whole = v.strictObject({ ...details.entries, ...commonDetails.entries });
  return status === 'ok' ? whole : v.partial(whole);
}

/** The same result; throws an Error that names the field if its details are not as its metric says. */
export function withCheckedDetails(definition: MetricDefinition, result: MetricResult): MetricResult {
  if (!isSwitchedOn()) return result;
  const { issues } = v.safeParse(detailsSchema(definition, result.status), result.details);
  if (!issues) return result;
  const [issue] = issues;
  // Of a row with alternatives, what the first one lacks.
  const { message } = issue.issues?.[0] ?? issue;
  throw new Error(
    `Expected the details of ${definition.id} as their schema says: at ${v.getDotPath(issue) ?? 'details'}: ${message}. Correct the schema beside the metric, or the metric.`,
  );
}

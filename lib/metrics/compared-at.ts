/** Conditions besides the tier under which values are comparable, e.g. the same number of processes. */
import type { MetricResult } from '../results/document.js';
import { shown } from '../errors/shown.js';

type Details = MetricResult['details'];

/** What two results must have in common to be compared. */
export interface ComparedAt {
  /** In words, e.g. `live blocks`. */
  name: string;
  /** From the details, so that documents written earlier have it too; undefined where they do not say. */
  of: (details: Details) => unknown;
}

interface Compared {
  comparedAt?: ComparedAt;
}

/** The different values of these results, as text; none of a metric that does not ask. */
export const conditionsOf = ({ comparedAt }: Compared, details: readonly Details[]): string[] =>
  comparedAt ? [...new Set(details.map((each) => shown(comparedAt.of(each))))] : [];

/** As `largest 50`; null where the metric does not ask, or there is nothing. */
export function conditionText(metric: Compared, details: readonly Details[]): string | null {
  const values = conditionsOf(metric, details);
  return values.length > 0 ? `${metric.comparedAt?.name} ${values.join(', ')}` : null;
}

/** Why these results are not of one quantity; null where they are. */
export function unlikeConditions(metric: Compared, details: readonly Details[]): string | null {
  const values = conditionsOf(metric, details);
  return values.length > 1 ? `${metric.comparedAt?.name} is ${values.join(' against ')}` : null;
}

/** A value of the row of a table in the details that has all of these. */
export function ofRow(table: unknown, wanted: Record<string, unknown>, key: string): unknown {
  const rows = Array.isArray(table) ? (table as Record<string, unknown>[]) : [];
  return rows.find((row) => Object.entries(wanted).every(([name, value]) => row[name] === value))?.[key];
}

/** Conditions besides the tier that results must share to be comparable, e.g. the same number of processes. */
import type { MetricResult } from '../../results/document.js';
import { shown } from '../../errors/shown.js';

type Details = MetricResult['details'];

/** A condition that two results must share. */
export interface ComparedAt {
  /** Name of the condition, e.g. `live blocks`. */
  name: string;
  /** Read from the details, so that older documents have it too; undefined if they do not. */
  of: (details: Details) => unknown;
}

interface Compared {
  comparedAt?: ComparedAt;
}

/** The different values in these results, as text; empty for a metric without conditions. */
const conditionsOf = ({ comparedAt }: Compared, details: readonly Details[]): string[] =>
  comparedAt ? [...new Set(details.map((each) => shown(comparedAt.of(each))))] : [];

/** E.g. `largest 50`; null for a metric without conditions, or without a value. */
export function conditionText(metric: Compared, details: readonly Details[]): string | null {
  const values = conditionsOf(metric, details);
  return values.length > 0 ? `${metric.comparedAt?.name} ${values.join(', ')}` : null;
}

/** Why these results measure different quantities; null if they do not. */
export function unlikeConditions(metric: Compared, details: readonly Details[]): string | null {
  const values = conditionsOf(metric, details);
  return values.length > 1 ? `${metric.comparedAt?.name} is ${values.join(' against ')}` : null;
}

/** A value from the table row in the details that has all the wanted values. */
export function ofRow(table: unknown, wanted: Record<string, unknown>, key: string): unknown {
  const rows = Array.isArray(table) ? (table as Record<string, unknown>[]) : [];
  return rows.find((row) => Object.entries(wanted).every(([name, value]) => row[name] === value))?.[key];
}

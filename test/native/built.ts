/** Modules of dist/, beside which the programs of their workers lie. */
import { fileURLToPath } from 'node:url';
import type { MetricDefinition } from '../../lib/metrics/metric.js';
import type * as registry from '../../lib/metrics/registry.js';

export const built = <T>(file: string): Promise<T> =>
  import(fileURLToPath(new URL(`../../dist/${file}`, import.meta.url))) as Promise<T>;

const { findMetric } = await built<typeof registry>('metrics/registry.js');

export function metricNamed(id: string): MetricDefinition {
  const definition = findMetric(id);
  if (!definition) throw new Error(`There is no metric named ${id}.`);
  return definition;
}

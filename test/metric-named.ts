import type { MetricDefinition } from '../lib/metrics/core/metric.js';
import { findMetric } from '../lib/metrics/registry.js';

export function metricNamed(id: string): MetricDefinition {
  const definition = findMetric(id);
  if (!definition) throw new Error(`There is no metric named ${id}.`);
  return definition;
}

/** What `list` and `listMetrics` give. The build puts the values in its place (scripts/bundle-program.js). */
import type { MetricInfo } from './core/metric.js';
import { metrics } from './registry.js';

/** Every field of MetricInfo, in the order in which they are listed; the compiler asks for each. */
const INFO: Readonly<Record<keyof MetricInfo, true>> = {
  id: true,
  name: true,
  category: true,
  unit: true,
  direction: true,
  question: true,
  estimator: true,
  delta: true,
  values: true,
  needs: true,
  functionName: true,
  where: true,
  costOf: true,
  contains: true,
  per: true,
  variesBecause: true,
  seconds: true,
};

/** In id order. */
export const listed: readonly MetricInfo[] = metrics.map((metric) => {
  const fields = Object.entries(metric).filter(([key]) => Object.hasOwn(INFO, key));
  return Object.fromEntries(fields) as unknown as MetricInfo;
});

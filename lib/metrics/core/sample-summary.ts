/** Schema of `summarise` (stats/summary.ts) in details. */
import * as v from 'valibot';
import { count, described, quantity } from './details.js';

const percentile = (unit: string, name: string) =>
  v.nullable(quantity(unit, `${name} percentile; null with too few samples`));

/** Statistics of samples in a unit. */
export const summaryOf = (unit: string) =>
  v.strictObject({
    count: count('Samples'),
    mean: quantity(unit, 'Mean'),
    stddev: v.nullable(quantity(unit, 'Standard deviation; null with one sample')),
    cv: v.nullable(quantity('ratio', 'Coefficient of variation; null if a sample is not above 0')),
    mad: quantity(unit, 'Median absolute deviation'),
    min: quantity(unit, 'Least'),
    p50: quantity(unit, 'Median'),
    p90: percentile(unit, '90th'),
    p95: percentile(unit, '95th'),
    p99: percentile(unit, '99th'),
    p999: percentile(unit, '99.9th'),
    max: quantity(unit, 'Greatest'),
    outliers: described(
      v.strictObject({
        mild: count('Beyond 1.5 interquartile ranges, but not beyond 3'),
        severe: count('Beyond 3 interquartile ranges'),
      }),
      "Samples beyond Tukey's fences",
    ),
  });

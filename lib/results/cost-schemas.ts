/** What a comparison says of money and ranks: prices that its costs were computed with, and rankings of its systems. */
import * as v from 'valibot';
import { described, named } from './described.js';

const finite = v.pipe(v.number(), v.finite());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const positive = v.pipe(finite, v.gtValue(0));

export const gpuPricesSchema = named(
  'GpuPrices',
  v.strictObject({
    currency: described(v.string(), 'A label.'),
    perGpuHour: described(
      v.nullable(positive),
      'Price of the measured card for an hour; null if each system has its own price.',
    ),
    systems: v.array(
      v.strictObject({
        system: v.string(),
        sharePercent: described(
          v.nullable(v.pipe(positive, v.maxValue(100))),
          'Share of the card that one tenant pays for; null if the system has its own price.',
        ),
        from: described(
          v.picklist(['prices', 'memory limit', 'compute limit', 'whole card']),
          'Where the share is from.',
        ),
        perHour: described(positive, 'What one tenant pays for an hour.'),
      }),
    ),
  }),
  'What an hour costs one tenant of each system.',
);

export const rankingSchema = named(
  'Ranking',
  v.strictObject({
    metric: v.string(),
    unit: v.string(),
    direction: v.picklist(['lower', 'higher']),
    confidence: described(finite, 'Confidence level of each interval.'),
    systems: described(
      v.array(
        v.strictObject({
          system: v.string(),
          rank: described(
            v.nullable(v.pipe(count, v.minValue(1))),
            'Null of the baseline, which is the reference, and of a system without an interval.',
          ),
          rounds: described(count, 'Number of rounds behind the value.'),
          value: described(
            v.nullable(finite),
            'Geometric mean over rounds where the metric is compared by ratio and all values are positive, else the mean.',
          ),
          interval: v.nullable(v.tuple([finite, finite])),
          reason: v.optional(described(v.string(), 'Why it has no rank.')),
        }),
      ),
      'Best first; then the reference and those without a rank.',
    ),
  }),
  'Ranks of the systems in one metric: 1 + the number of systems that are shown to be better.',
);

export type GpuPrices = v.InferOutput<typeof gpuPricesSchema>;
export type SystemPrice = GpuPrices['systems'][number];
export type Ranking = v.InferOutput<typeof rankingSchema>;
export type RankedSystem = Ranking['systems'][number];

/** What a comparison says of money and ranks: prices that its costs were computed with, and rankings of its systems. */
import * as v from 'valibot';

const finite = v.pipe(v.number(), v.finite());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const positive = v.pipe(finite, v.gtValue(0));

/** What an hour costs one tenant of each system. */
export const gpuPricesSchema = v.strictObject({
  /** A label. */
  currency: v.string(),
  /** Price of the measured card for an hour; null if each system has its own price. */
  perGpuHour: v.nullable(positive),
  systems: v.array(
    v.strictObject({
      system: v.string(),
      /** Share of the card that one tenant pays for; null if the system has its own price. */
      sharePercent: v.nullable(v.pipe(positive, v.maxValue(100))),
      /** Where the share is from. */
      from: v.picklist(['prices', 'memory limit', 'compute limit', 'whole card']),
      /** What one tenant pays for an hour. */
      perHour: positive,
    }),
  ),
});

/** Ranks of the systems in one metric: 1 + the number of systems that are shown to be better. */
export const rankingSchema = v.strictObject({
  metric: v.string(),
  unit: v.string(),
  direction: v.picklist(['lower', 'higher']),
  /** Confidence level of each interval. */
  confidence: finite,
  /** Best first; then the reference and those without a rank. */
  systems: v.array(
    v.strictObject({
      system: v.string(),
      /** Null of the baseline, which is the reference, and of a system without an interval. */
      rank: v.nullable(v.pipe(count, v.minValue(1))),
      /** Number of rounds behind the value. */
      rounds: count,
      /** Geometric mean over rounds where the metric is compared by ratio and all values are positive, else the mean. */
      value: v.nullable(finite),
      interval: v.nullable(v.tuple([finite, finite])),
      /** Why it has no rank. */
      reason: v.optional(v.string()),
    }),
  ),
});

export type GpuPrices = v.InferOutput<typeof gpuPricesSchema>;
export type SystemPrice = GpuPrices['systems'][number];
export type Ranking = v.InferOutput<typeof rankingSchema>;
export type RankedSystem = Ranking['systems'][number];

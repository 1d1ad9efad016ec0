/** CACHE-001: whether what a tenant reads again stays in the L2 cache beside a neighbour. */
import * as v from 'valibot';
import { quantity } from '../core/details.js';
import type { Tier } from '../../results/document.js';
import { measureFunction } from '../core/measure-function.js';
import type { MetricDefinition } from '../core/metric.js';
import { measureBeside, type Reading, rowsOf, victimDetails, type VictimPlan } from './victim-rows.js';

/** A quarter of the cache, walked by all multiprocessors. */
const VICTIM = { eighths: 2, blocks: 0 };
const PLANS: Record<Tier, VictimPlan> = {
  quick: { victim: VICTIM, rows: rowsOf('quick'), times: { aloneMs: 100, togetherMs: 250, turns: 1 } },
  standard: { victim: VICTIM, rows: rowsOf('standard'), times: { aloneMs: 200, togetherMs: 400, turns: 2 } },
  thorough: { victim: VICTIM, rows: rowsOf('thorough'), times: { aloneMs: 300, togetherMs: 600, turns: 5 } },
};
const LEAST_HITS_ALONE = 95;

const READING: Reading = {
  name: 'hitPercent',
  value: (_, together) => together.hitPercent ?? Number.NaN,
  isPositive: true,
  more: (idle) => ({ idleHitPercent: idle.hitPercent }),
  alone: ({ alone: { hitPercent } }) => ({
    name: `at least ${LEAST_HITS_ALONE} % hits alone`,
    passed: hitPercent !== null && hitPercent >= LEAST_HITS_ALONE,
    detail: `${hitPercent?.toPrecision(4) ?? 'no'} %`,
  }),
};

/** With a plan of its own, for tests; the tier decides where there is none. */
export const cacheHitRateBy =
  (plan?: VictimPlan): MetricDefinition<CacheHitRateDetails>['measure'] =>
  (context) =>
    measureBeside(context, plan ?? PLANS[context.options.tier], READING);

const details = victimDetails({
  hitPercent: v.nullable(quantity('%', 'Loads that hit beside the neighbours; null if they were not measured')),
  idleHitPercent: v.optional(
    v.nullable(quantity('%', 'Loads that hit while the neighbours do nothing; null without any')),
  ),
});

export type CacheHitRateDetails = v.InferOutput<typeof details>;

export const cacheHitRate: MetricDefinition<CacheHitRateDetails> = {
  id: 'CACHE-001',
  name: 'L2 Cache Hit Rate',
  category: 'cache',
  unit: '%',
  direction: 'higher',
  question: 'Do your hot weights stay in the L2 cache beside a neighbour?',
  estimator:
    'loads that hit, of a tenant that walks a quarter of the L2 cache beside one that streams four times the cache',
  delta: { absolute: 2 },
  needs: ['two tenants'],
  functionName: 'measureCacheHitRate',
  where: 'fresh-processes',
  details,
  seconds: { quick: 3, standard: 22, thorough: 60 },
  lineCharts: [
    {
      title: 'Hits beside tenants that stream memory',
      axes: { x: 'neighbours', y: '% of loads' },
      rows: 'rows',
      point: { x: 'neighbours', y: 'hitPercent' },
      where: { kind: 'stream' },
    },
  ],
  measure: cacheHitRateBy(),
};

/**
 * CACHE-001, %: of the loads with which a tenant walks a quarter of the L2 cache in random order, those that hit it while
 * a neighbour reads four times the cache over and over. Whether a load hit follows from its latency: `details.scale`
 * has those of hits and misses and `details.workingSets[]` a sweep of sizes alone. `details.rows[]` has one neighbour and three, which
 * stream or walk a quarter of the cache themselves, each with the hits while they are idle. Loads that take ten times as
 * long as a miss waited for another context and do not count. A card whose hits and misses take less than 1.5 times as
 * long is `unsupported`. `iterations`, `warmup` and `resolution` do not apply.
 */
export const measureCacheHitRate = measureFunction(cacheHitRate);

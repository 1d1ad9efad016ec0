/** CACHE-004: what a neighbour that streams memory adds to the latency of loads from the L2 cache. */
import * as v from 'valibot';
import { quantity } from '../core/details.js';
import type { Tier } from '../../results/document.js';
import { changePercent } from '../../stats/interference.js';
import { measureFunction } from '../core/measure-function.js';
import type { MetricDefinition } from '../core/metric.js';
import { measureBeside, type Reading, rowsOf, victimDetails, type VictimPlan } from './victim-rows.js';

/** An eighth of the cache, walked by one warp. */
const VICTIM = { eighths: 1, blocks: 1 };
const streams = (tier: Tier) => rowsOf(tier).filter(({ kind }) => kind === 'stream');
const PLANS: Record<Tier, VictimPlan> = {
  quick: { victim: VICTIM, rows: streams('quick'), times: { aloneMs: 150, togetherMs: 300, turns: 1 } },
  standard: { victim: VICTIM, rows: streams('standard'), times: { aloneMs: 250, togetherMs: 500, turns: 2 } },
  thorough: { victim: VICTIM, rows: streams('thorough'), times: { aloneMs: 300, togetherMs: 600, turns: 5 } },
};
/** The most by which the latency alone may differ from that of hits, relative to it. */
const MOST_OFF = 0.1;

const known = (value: number | null): number => value ?? Number.NaN;

const READING: Reading = {
  name: 'slowerPercent',
  value: (idle, together) => changePercent(known(idle.meanNs), known(together.meanNs)),
  isPositive: false,
  // Of loads that still hit: what queues cost, without misses.
  more: (idle, together) => ({
    hitsSlowerPercent: together.hitNs === null ? null : changePercent(known(idle.hitNs), together.hitNs),
  }),
  alone: ({ alone: { meanNs }, calibration: { scale } }) => ({
    name: `alone within ${100 * MOST_OFF} % of the latency of hits`,
    passed: Math.abs(known(meanNs) / scale.hitNs - 1) <= MOST_OFF,
    detail: `${known(meanNs).toPrecision(4)} ns, hits ${scale.hitNs.toPrecision(4)} ns`,
  }),
};

/** With a plan of its own, for tests; the tier decides where there is none. */
export const cacheContentionBy =
  (plan?: VictimPlan): MetricDefinition<CacheContentionDetails>['measure'] =>
  (context) =>
    measureBeside(context, plan ?? PLANS[context.options.tier], READING);

const details = victimDetails({
  slowerPercent: v.nullable(quantity('%', 'What the neighbours add to the mean latency; null if it was not measured')),
  hitsSlowerPercent: v.optional(v.nullable(quantity('%', 'What they add to the latency of hits; null without any'))),
});

export type CacheContentionDetails = v.InferOutput<typeof details>;

export const cacheContention: MetricDefinition<CacheContentionDetails> = {
  id: 'CACHE-004',
  name: 'Cache Contention Overhead',
  category: 'cache',
  unit: '%',
  direction: 'lower',
  question: 'How much longer do loads from the L2 cache take while a neighbour hammers it?',
  estimator:
    'mean latency of a warp that walks an eighth of the L2 cache beside a tenant that streams four times the cache ÷ alone − 1',
  delta: { absolute: 2 },
  needs: ['two tenants'],
  functionName: 'measureCacheContention',
  where: 'fresh-processes',
  details,
  seconds: { quick: 2, standard: 14, thorough: 40 },
  lineCharts: [
    {
      title: 'Latency of a load by working set, alone',
      axes: { x: 'working set ÷ L2 cache', y: 'ns' },
      rows: 'workingSets',
      point: { x: 'ofL2', y: 'meanNs' },
    },
  ],
  measure: cacheContentionBy(),
};

/**
 * CACHE-004, %, signed: by how much the mean latency of loads increases with which one warp walks an eighth of the L2
 * cache, while a neighbour streams four times the cache. It has two parts: loads that miss, since the neighbour evicted
 * their lines, and queues; `details.rows[]` has the increase of hits alone as `hitsSlowerPercent`, and the median and 99th
 * percentile of both. Gaps in which another context ran do not count. `iterations`, `warmup` and `resolution` do not apply.
 */
export const measureCacheContention = measureFunction(cacheContention);

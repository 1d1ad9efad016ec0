/** BW-002: whether tenants that are entitled to equal parts of the memory's bandwidth get equal parts. */
import * as v from 'valibot';
import { count, described, quantity, rows, text } from '../core/details.js';
import type { Check, Tier } from '../../results/document.js';
import { jain, jainCi95 } from '../../stats/jain.js';
import { quantile } from '../../stats/quantile.js';
import { percentileFloors } from '../../stats/summary.js';
import { outside } from '../core/impossible.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { windowInterval } from '../core/sample-stats.js';
import { processContext } from '../tenants/tenants.js';
import { type EqualTenants, equalTenants, HEADLINE, TIMES } from './equal-tenants.js';
import { BIN_MS, boundCheck, type Rate, STREAM_KINDS, together } from './streams.js';

const COUNTS: Record<Tier, readonly number[]> = {
  quick: [HEADLINE],
  standard: [2, HEADLINE, 8],
  thorough: [2, HEADLINE, 8],
};

const known = 'null if it was not measured';

const details = v.strictObject({
  rows: rows(
    v.strictObject({
      tenants: count('Tenants'),
      jain: v.nullable(described(v.number(), `Jain's index of their rates; ${known}`)),
      ci95: described(v.nullable(v.tuple([v.number(), v.number()])), '95 % interval of jain; null without one'),
      minOverMax: v.nullable(described(v.number(), `The lowest rate, divided by the highest; ${known}`)),
      binJainP5: v.nullable(
        described(v.number(), '5th percentile of the index over windows; null with too few of them'),
      ),
      binJainMin: v.nullable(described(v.number(), `The lowest index of a window; ${known}`)),
      gbPerSecond: rows(v.pipe(v.number(), v.finite()), 'The rate of each tenant (GB/s)'),
      leastGbPerSecond: v.nullable(quantity('GB/s', `The lowest rate; ${known}`)),
      bins: count('Windows in which all tenants streamed'),
      unsupported: v.optional(text('Why the row has no numbers')),
    }),
    'A row per number of tenants',
  ),
  binMs: quantity('ms', 'Length of the windows'),
  context: v.optional(processContext),
});

export type BandwidthFairnessDetails = v.InferOutput<typeof details>;

type Row = BandwidthFairnessDetails['rows'][number];

const nothing = (tenants: number, reason: string): Row => ({
  tenants,
  jain: null,
  ci95: null,
  minOverMax: null,
  binJainP5: null,
  binJainMin: null,
  gbPerSecond: [],
  leastGbPerSecond: null,
  bins: 0,
  unsupported: reason,
});

function rowOf({ tenants, cases }: EqualTenants, seed: number): Row {
  const [found] = cases;
  if (!found) return nothing(tenants, 'no tenant streamed memory');
  if ('reason' in found) return nothing(tenants, found.reason);
  const { rates, binned } = found.together;
  const bins = binned[0]?.length ?? 0;
  const movedIn = (bin: number) => binned.map((of) => of[bin] as number);
  const each = Array.from({ length: bins }, (_, bin) => jain(movedIn(bin)))
    .filter((value) => value !== null)
    .sort((a, b) => a - b);
  const most = Math.max(...rates);
  return {
    tenants,
    jain: jain(rates),
    ci95: jainCi95(binned, seed),
    minOverMax: most > 0 ? Math.min(...rates) / most : null,
    binJainP5: each.length >= percentileFloors.p95 ? quantile(each, 0.05) : null,
    binJainMin: each[0] ?? null,
    gbPerSecond: rates,
    leastGbPerSecond: Math.min(...rates),
    bins,
  };
}

async function measure(context: MeasureContext, togetherMs: number): Promise<Measured<BandwidthFairnessDetails>> {
  const { tier, seed } = context.options;
  const table: Row[] = [];
  const windows: { rate: Rate; ceilingGbs: number }[] = [];
  let entered: EqualTenants['context'];
  for (const count of COUNTS[tier]) {
    // BW-001 measures four tenants with all kinds of streams; both metrics use the same windows.
    const kinds = count === HEADLINE && tier !== 'quick' ? STREAM_KINDS : (['read'] as const);
    const equal = await equalTenants(context, count, kinds, togetherMs);
    table.push(rowOf(equal, seed));
    for (const each of equal.cases)
      if ('together' in each) {
        const { rates, ceilingGbs } = each.together;
        windows.push({ rate: together(`${count} tenants, ${each.kind}`, rates), ceilingGbs });
      }
    entered ??= equal.context;
    context.progress(`${count} tenants`, table.length / COUNTS[tier].length);
  }
  const found = { rows: table, binMs: BIN_MS, context: entered };
  const headline = table.find(({ tenants }) => tenants === HEADLINE) as Row;
  if (headline.unsupported !== undefined) return unsupported(headline.unsupported, found);
  const idle = headline.gbPerSecond.filter((rate) => rate === 0).length;
  const checks: Check[] = [
    {
      name: 'every tenant moved memory in the common time',
      passed: idle === 0,
      detail: idle === 0 ? `${HEADLINE} tenants, ${headline.bins} bins` : `${idle} moved nothing`,
    },
    boundCheck(
      windows.map(({ rate }) => rate),
      windows[0]?.ceilingGbs ?? 0,
      context.system,
    ),
  ];
  return {
    ...invalidBy(checks),
    value: headline.jain,
    ...windowInterval(headline.ci95),
    ciScope: 'within-process',
    processes: HEADLINE,
    headline: null,
    details: found,
    checks,
  };
}

/** With a given window, for tests; without one the tier decides. */
export const bandwidthFairnessBy =
  (togetherMs?: number): MetricDefinition<BandwidthFairnessDetails>['measure'] =>
  (context) =>
    measure(context, togetherMs ?? TIMES[context.options.tier].togetherMs);

export const bandwidthFairness: MetricDefinition<BandwidthFairnessDetails> = {
  id: 'BW-002',
  name: 'Bandwidth Fairness Index',
  category: 'bandwidth',
  unit: 'ratio',
  direction: 'higher',
  question: 'Is memory bandwidth split evenly where the layer limits only launches?',
  estimator: "Jain's index of the bandwidth of four tenants with equal quotas that read memory at the same time",
  delta: { absolute: 0.01 },
  impossible: outside(1 / HEADLINE, 1),
  needs: ['four tenants'],
  functionName: 'measureBandwidthFairness',
  where: 'fresh-processes',
  lineCharts: [
    {
      title: 'Bandwidth of the tenant that gets least',
      axes: { x: 'tenants', y: 'GB/s' },
      rows: 'rows',
      point: { x: 'tenants', y: 'leastGbPerSecond' },
    },
    {
      title: 'Fairness of bandwidth',
      axes: { x: 'tenants', y: 'Jain’s index' },
      rows: 'rows',
      point: { x: 'tenants', y: 'jain' },
    },
  ],
  details,
  seconds: { quick: 4, standard: 40, thorough: 60 },
  measure: bandwidthFairnessBy(),
};

/**
 * BW-002: Jain's fairness index of the memory bandwidth of four tenants with equal quotas, from 1/4 (one has everything)
 * to 1 (all have the same). In a run with BW-001 both use the same windows. From tier `standard` on, `details.rows[]`
 * has two and eight tenants too, and the index of single bins of 100 ms. `iterations`, `warmup` and `resolution` do not
 * apply.
 */
export const measureBandwidthFairness = measureFunction(bandwidthFairness);

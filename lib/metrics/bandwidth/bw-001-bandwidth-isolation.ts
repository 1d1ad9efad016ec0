/** BW-001: the share of its entitled memory bandwidth that the worst-off tenant gets. */
import * as v from 'valibot';
import { choice, count, interval, quantity, rows, text } from '../core/details.js';
import type { StreamKind } from '../../native/addon-types.js';
import type { Tier } from '../../results/document.js';
import { ratioInterval } from '../../stats/rule/combined.js';
import { smallestOf } from '../../stats/largest.js';
import { median } from '../../stats/median.js';
import { serialMean } from '../../stats/serial.js';
import { outside } from '../core/impossible.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { unlessFull } from '../core/row-state.js';
import { windowInterval } from '../core/sample-stats.js';
import { processContext } from '../tenants/tenants.js';
import { type Case, equalTenants, HEADLINE, type StreamTimes, TIMES } from './equal-tenants.js';
import {
  alone,
  type Alone,
  aloneChecks,
  BIN_MS,
  boundCheck,
  STREAM_KINDS,
  together,
  type Together,
} from './streams.js';

const KINDS: Record<Tier, readonly StreamKind[]> = { quick: ['read'], standard: STREAM_KINDS, thorough: STREAM_KINDS };

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/**
 * The lowest rate of any tenant, in per cent of an equal part of what one tenant moves alone, in the median of several
 * windows. The interval is of the lowest rate, whichever tenant has it, and of the windows, which are independent: each
 * has new buffers.
 */
export function worstOf({ rates, binned }: Pick<Together, 'rates' | 'binned'>, alone: readonly number[]) {
  const whole = median(alone);
  const least = Math.min(...rates);
  const limits = binned.every((bins) => bins.length > 0)
    ? smallestOf(binned.map((bins) => (alpha) => serialMean(bins, { alpha })))
    : { value: least, ci95: null };
  const ratio = ratioInterval(limits, whole);
  const percentOf = (ofWhole: number) => 100 * rates.length * ofWhole;
  return {
    worstPercent: percentOf(least / whole.value),
    ci95: ratio && ([percentOf(ratio[0]), percentOf(ratio[1])] as [number, number]),
  };
}

function rowOf(kind: StreamKind, together: Together, alone: Alone) {
  const { rates, binned, spanMs } = together;
  return {
    kind,
    ...worstOf(together, alone.windows),
    aggregatePercent: (100 * sum(rates)) / alone.gbPerSecond,
    gbPerSecond: rates,
    aloneGbPerSecond: alone.gbPerSecond,
    aloneWindowsGbPerSecond: [...alone.windows],
    percentOfCeiling: alone.ceilingGbs === 0 ? null : (100 * alone.gbPerSecond) / alone.ceilingGbs,
    bufferBytes: alone.bufferBytes,
    spanMs,
    bins: binned[0]?.length ?? 0,
  };
}

const rowOrReasonOf = (found: Case, alone: Alone) =>
  'reason' in found ? { kind: found.kind, unsupported: found.reason } : rowOf(found.kind, found.together, alone);

async function measure(
  context: MeasureContext,
  { aloneMs, togetherMs }: StreamTimes,
): Promise<Measured<BandwidthIsolationDetails>> {
  const { tier } = context.options;
  const kinds = KINDS[tier];
  const whole: Alone[] = [];
  for (const kind of kinds) {
    whole.push(await alone(context, kind, aloneMs));
    context.progress(`${kind} alone`, (0.5 * whole.length) / kinds.length);
  }
  const found = await equalTenants(context, HEADLINE, kinds, togetherMs);
  const table = found.cases.map((each, i) => rowOrReasonOf(each, whole[i] as Alone));
  const known = {
    tenants: HEADLINE,
    quotaPercent: found.quotaPercent,
    rows: table,
    binMs: BIN_MS,
    context: found.context,
  };
  const headline = table[0];
  if (!headline || 'unsupported' in headline)
    return unsupported(headline?.unsupported ?? 'no tenant streamed memory', known);
  const rates = found.cases.flatMap((each) => ('together' in each ? together(each.kind, each.together.rates) : []));
  const checks = [
    ...kinds.flatMap((kind, i) => aloneChecks(kind, whole[i] as Alone)),
    boundCheck(rates, whole[0]?.ceilingGbs ?? 0, context.system),
  ];
  return {
    ...invalidBy(checks),
    value: headline.worstPercent,
    ...windowInterval(headline.ci95),
    ciScope: 'within-process',
    processes: HEADLINE,
    headline: null,
    details: known,
    checks,
  };
}

/** With given times, for tests; without them the tier decides. */
export const bandwidthIsolationBy =
  (times?: StreamTimes): MetricDefinition<BandwidthIsolationDetails>['measure'] =>
  (context) =>
    unlessFull('the buffers of one process', measure(context, times ?? TIMES[context.options.tier]));

const rate = v.pipe(v.number(), v.finite());
const kind = choice(STREAM_KINDS, 'What the tenants do');

const details = v.strictObject({
  tenants: count('Tenants'),
  quotaPercent: v.nullable(quantity('%', 'Compute quota of each; null if the system sets none')),
  rows: rows(
    v.union([
      v.strictObject({
        kind,
        worstPercent: quantity('%', 'The worst-off tenant, of an equal part of what one moves alone'),
        ci95: interval('%', 'worstPercent'),
        aggregatePercent: quantity('%', 'All tenants, of what one moves alone'),
        gbPerSecond: rows(rate, 'The rate of each tenant (GB/s)'),
        aloneGbPerSecond: quantity('GB/s', 'One tenant alone'),
        aloneWindowsGbPerSecond: rows(rate, 'The same in each of its windows (GB/s)'),
        percentOfCeiling: v.nullable(
          quantity('%', 'One tenant alone, of what the memory can move; null if that is not known'),
        ),
        bufferBytes: count('Size of a buffer (bytes)'),
        spanMs: quantity('ms', 'The time in which all tenants streamed'),
        bins: count('Windows from which the interval is drawn'),
      }),
      v.strictObject({ kind, unsupported: text('Why the row has no numbers') }),
    ]),
    'A row per kind of stream',
  ),
  binMs: quantity('ms', 'Length of the windows'),
  context: v.optional(processContext),
});

export type BandwidthIsolationDetails = v.InferOutput<typeof details>;

export const bandwidthIsolation: MetricDefinition<BandwidthIsolationDetails> = {
  id: 'BW-001',
  name: 'Memory Bandwidth Isolation',
  category: 'bandwidth',
  unit: '%',
  direction: 'higher',
  question: 'How much of its equal part of the memory bandwidth does the worst-off tenant get?',
  estimator: 'lowest rate of four tenants that read memory at the same time ÷ a quarter of what one reads alone',
  delta: { absolute: 2 },
  impossible: outside(0, 105 * HEADLINE),
  needs: ['four tenants'],
  functionName: 'measureBandwidthIsolation',
  where: 'fresh-processes',
  details,
  seconds: { quick: 5, standard: 28, thorough: 50 },
  measure: bandwidthIsolationBy(),
};

/**
 * BW-001, %: bandwidth of the worst-off of four tenants that stream memory at the same time, relative to a quarter of
 * what an unlimited tenant moves alone. It exceeds 100 on a card that one process cannot saturate. `details.rows[]` has
 * the GB/s of every tenant, and their sum in per cent of one tenant alone; from tier `standard` on it has rows for
 * writes and copies too. Bytes are those that kernels moved between time stamps of the device's clock. `iterations`,
 * `warmup` and `resolution` do not apply.
 */
export const measureBandwidthIsolation = measureFunction(bandwidthIsolation);

/** BW-001: the share of its entitled memory bandwidth that the worst-off tenant gets. */
import type { StreamKind } from '../../native/addon-types.js';
import type { Tier } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { resampledCi95 } from '../../stats/resampled.js';
import { outside } from '../impossible.js';
import { measureFunction } from '../measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../metric.js';
import { type Case, equalTenants, HEADLINE, type StreamTimes, TIMES } from './equal-tenants.js';
import {
  alone,
  type Alone,
  aloneChecks,
  BIN_MS,
  boundCheck,
  meanOf,
  STREAM_KINDS,
  together,
  type Together,
} from './streams.js';

const KINDS: Record<Tier, readonly StreamKind[]> = { quick: ['read'], standard: STREAM_KINDS, thorough: STREAM_KINDS };

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/**
 * The lowest rate of any tenant, in per cent of an equal part of what one tenant moves alone, in the median of several
 * windows. The interval is of that tenant's rate and of the windows.
 */
export function worstOf({ rates, binned }: Pick<Together, 'rates' | 'binned'>, alone: readonly number[], seed: number) {
  const percentOf = (rate: number, windows: readonly number[]) => (100 * rate) / (median(windows).value / rates.length);
  const least = Math.min(...rates);
  const bins = binned[rates.indexOf(least)] ?? [];
  return {
    worstPercent: percentOf(least, alone),
    ci95: resampledCi95(
      [bins.length, alone.length],
      ([draw, windows]) => {
        const drawn = (windows as number[]).map((window) => alone[window] as number);
        return percentOf(meanOf(bins, draw as number[]), drawn);
      },
      seed,
    ),
  };
}

function rowOf(kind: StreamKind, together: Together, alone: Alone, seed: number) {
  const { rates, binned, spanMs } = together;
  return {
    kind,
    ...worstOf(together, alone.windows, seed),
    aggregatePercent: (100 * sum(rates)) / alone.gbPerSecond,
    gbPerSecond: rates,
    aloneGbPerSecond: alone.gbPerSecond,
    aloneWindowsGbPerSecond: alone.windows,
    percentOfCeiling: alone.ceilingGbs === 0 ? null : (100 * alone.gbPerSecond) / alone.ceilingGbs,
    bufferBytes: alone.bufferBytes,
    spanMs,
    bins: binned[0]?.length ?? 0,
  };
}

const described = (found: Case, alone: Alone, seed: number) =>
  'reason' in found ? { kind: found.kind, unsupported: found.reason } : rowOf(found.kind, found.together, alone, seed);

async function measure(context: MeasureContext, { aloneMs, togetherMs }: StreamTimes): Promise<Measured> {
  const { tier, seed } = context.options;
  const kinds = KINDS[tier];
  const whole: Alone[] = [];
  for (const kind of kinds) {
    whole.push(await alone(context, kind, aloneMs));
    context.progress(`${kind} alone`, (0.5 * whole.length) / kinds.length);
  }
  const found = await equalTenants(context, HEADLINE, kinds, togetherMs);
  const rows = found.cases.map((each, i) => described(each, whole[i] as Alone, seed));
  const details = { tenants: HEADLINE, quotaPercent: found.quotaPercent, rows, binMs: BIN_MS, context: found.context };
  const headline = rows[0];
  if (!headline || 'unsupported' in headline)
    return unsupported(headline?.unsupported ?? 'no tenant streamed memory', details);
  const rates = found.cases.flatMap((each) => ('together' in each ? together(each.kind, each.together.rates) : []));
  const checks = [
    ...kinds.flatMap((kind, i) => aloneChecks(kind, whole[i] as Alone)),
    boundCheck(rates, whole[0]?.ceilingGbs ?? 0),
  ];
  return {
    ...invalidBy(checks),
    value: headline.worstPercent,
    ci95: headline.ci95,
    ciScope: 'within-process',
    processes: HEADLINE,
    headline: null,
    details,
    checks,
  };
}

/** With given times, for tests; without them the tier decides. */
export const bandwidthIsolationBy =
  (times?: StreamTimes): MetricDefinition['measure'] =>
  (context) =>
    measure(context, times ?? TIMES[context.options.tier]);

export const bandwidthIsolation: MetricDefinition = {
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

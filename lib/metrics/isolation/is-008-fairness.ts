/** IS-008: whether tenants that are entitled to equal parts of the card get equal parts. */
import * as v from 'valibot';
import { count, described, interval, quantity, rows, text } from '../core/details.js';
import { shareLines } from './share-fields.js';
import type { Check, MetricResult, Tier } from '../../results/document.js';
import { jain, jainCi95 } from '../../stats/jain.js';
import { quantile } from '../../stats/quantile.js';
import { percentileFloors } from '../../stats/summary.js';
import type { TenantContext } from '../../workers/worker-tenant.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { windowInterval } from '../core/sample-stats.js';
import { isOutOfMemory } from '../core/row-state.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import {
  amongTenants,
  BIN_MS,
  commonBins,
  type Quota,
  setsQuotas,
  shareLine,
  total,
  type WholeCard,
  wholeCard,
} from './shared/co-tenants.js';
import { NS_PER_MS } from '../core/units.js';

/** How much time is left out at the beginning, and how long the tenants are then measured. */
interface FairnessTimes {
  skipMs: number;
  windowMs: number;
}

const TIMES: Record<Tier, FairnessTimes> = {
  quick: { skipMs: 300, windowMs: 1_000 },
  standard: { skipMs: 1_000, windowMs: 5_000 },
  thorough: { skipMs: 5_000, windowMs: 30_000 },
};
const HEADLINE = 4;

interface Case {
  name: string;
  /** Entitlement of each tenant in per cent of the card. */
  entitled: readonly number[];
}

const equal = (count: number): Case => ({ name: `${count} equal`, entitled: Array<number>(count).fill(100 / count) });
const WEIGHTED: Case = { name: 'weighted 60/20/20', entitled: [60, 20, 20] };

function casesOf(context: MeasureContext): Case[] {
  if (context.options.tier === 'quick') return [equal(HEADLINE)];
  const quotas = setsQuotas(context) && context.system.limitsCoexist;
  return [equal(2), equal(HEADLINE), equal(8), ...(quotas ? [WEIGHTED] : [])];
}

const fairnessRow = v.strictObject({
  case: text('The entitlements'),
  tenants: count('Tenants'),
  jain: v.nullable(quantity('ratio', "Jain's index of their work by their entitlements; null without any work")),
  ci95: interval('ratio', 'jain'),
  minOverMax: v.nullable(quantity('ratio', 'The least of that work by the most; null without any work')),
  windowJainP5: v.nullable(
    quantity('ratio', '5th percentile of the index over windows of 100 ms; null with too few windows'),
  ),
  windowJainMin: v.nullable(quantity('ratio', 'Its least over these windows; null without any')),
  windows: count('Windows of 100 ms in common'),
  attainedPercent: described(
    v.array(v.pipe(v.number(), v.finite())),
    "Work of each tenant, of its entitlement to the whole card's work (%)",
  ),
  unsupported: v.optional(text('Why it was not measured')),
});

const details = v.strictObject({
  rows: rows(fairnessRow, 'A row per number of tenants and their entitlements'),
  shares: shareLines,
  binMs: quantity('ms', 'Length of a window'),
  context: v.optional(processContext),
});

export type FairnessDetails = v.InferOutput<typeof details>;

interface Row extends v.InferOutput<typeof fairnessRow> {
  shares: ReturnType<typeof shareLine>[];
}

const nothing = ({ name, entitled }: Case, reason: string): Row => ({
  case: name,
  tenants: entitled.length,
  jain: null,
  ci95: null,
  minOverMax: null,
  windowJainP5: null,
  windowJainMin: null,
  windows: 0,
  attainedPercent: [],
  unsupported: reason,
  shares: [],
});

function rowOf(of: Case, work: readonly (readonly number[])[], whole: WholeCard, seed: number, quotas: boolean): Row {
  const { name, entitled } = of;
  const windows = (work[0] as readonly number[]).length;
  const parts = (draw?: readonly number[]) =>
    work.map((bins, i) => total(draw ? draw.map((bin) => bins[bin] as number) : bins) / (entitled[i] as number));
  const x = parts();
  const each = Array.from({ length: windows }, (_, bin) => jain(parts([bin])))
    .filter((value) => value !== null)
    .sort((a, b) => a - b);
  const most = Math.max(...x);
  const wholeWork = whole.rate * windows * BIN_MS * NS_PER_MS;
  return {
    case: name,
    tenants: work.length,
    jain: jain(x),
    ci95: jainCi95(
      work.map((bins, i) => bins.map((bin) => bin / (entitled[i] as number))),
      seed,
    ),
    minOverMax: most > 0 ? Math.min(...x) / most : null,
    windowJainP5: each.length >= percentileFloors.p95 ? quantile(each, 0.05) : null,
    windowJainMin: each[0] ?? null,
    windows,
    attainedPercent: x.map((part) => (100 * part * 100) / wholeWork),
    shares: work.map((bins, i) =>
      shareLine(`tenant ${i + 1} of ${name}`, quotas ? (entitled[i] as number) : null, BIN_MS, bins, whole),
    ),
  };
}

async function measureCase(context: MeasureContext, of: Case, whole: WholeCard, times: FairnessTimes) {
  const { seed } = context.options;
  const { skipMs, windowMs } = times;
  const quotas = setsQuotas(context);
  const limits: Quota[] = of.entitled.map((percent) => (quotas ? percent : null));
  let entered: TenantContext | undefined;
  try {
    const row = await amongTenants(context, limits, async (tenants) => {
      entered = contextOf(tenants.scene.scene);
      const places = of.entitled.map((_, place) => place);
      const loads = await tenants.load(places, { durationMs: skipMs + windowMs, binMs: BIN_MS });
      const common = commonBins(loads, BIN_MS, skipMs);
      return common ? rowOf(of, common.work, whole, seed, quotas) : nothing(of, 'the tenants had no window in common');
    });
    return { row, entered };
  } catch (error) {
    if (isOutOfMemory(error))
      return { row: nothing(of, `${of.entitled.length} tenants do not fit: ${error.message}`), entered };
    throw error;
  }
}

function judge(rows: readonly Row[], entered: TenantContext | undefined): Measured<FairnessDetails> {
  const found = {
    rows: rows.map(({ shares: _shares, ...row }) => row),
    shares: rows.flatMap(({ shares }) => shares),
    binMs: BIN_MS,
    context: entered,
  };
  const headline = rows.find(({ case: name }) => name === equal(HEADLINE).name);
  if (!headline || headline.unsupported !== undefined)
    return unsupported(headline?.unsupported ?? 'four tenants were not measured', found);
  const idle = headline.attainedPercent.filter((percent) => percent === 0).length;
  const checks: Check[] = [
    {
      name: 'every tenant progressed in the common time',
      passed: idle === 0,
      detail: idle === 0 ? `${headline.tenants} tenants, ${headline.windows} windows` : `${idle} did nothing`,
    },
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

const windowsOf = ({ rows }: MetricResult['details']): unknown =>
  Array.isArray(rows) ? (rows as Partial<Row>[]).find(({ tenants }) => tenants === HEADLINE)?.tenants : undefined;

/** With given times, for tests; without them the tier decides. */
export const fairnessBy =
  (times?: FairnessTimes): MetricDefinition<FairnessDetails>['measure'] =>
  async (context) => {
    const whole = await wholeCard(context);
    const cases = casesOf(context);
    const rows: Row[] = [];
    let entered: TenantContext | undefined;
    for (const of of cases) {
      const measured = await measureCase(context, of, whole, times ?? TIMES[context.options.tier]);
      rows.push(measured.row);
      entered ??= measured.entered;
      context.progress(of.name, rows.length / cases.length);
    }
    return judge(rows, entered);
  };

export const fairness: MetricDefinition<FairnessDetails> = {
  id: 'IS-008',
  name: 'Fairness Index',
  category: 'isolation',
  unit: 'ratio',
  direction: 'higher',
  question: 'Does an equal price mean an equal part of the GPU?',
  estimator:
    "Jain's index of the work of four tenants in their common time; each has a quarter of the card, whatever limit is configured, if the system sets limits",
  delta: { absolute: 0.01 },
  comparedAt: { name: 'number of tenants', of: windowsOf },
  needs: ['four tenants'],
  functionName: 'measureFairness',
  where: 'fresh-processes',
  details,
  seconds: { quick: 4, standard: 40, thorough: 160 },
  measure: fairnessBy(),
};

/**
 * IS-008: Jain's fairness index of four tenants with equal quotas that do the same work, from 1/4 (one has everything)
 * to 1 (all have the same). From tier `standard` on, `details.rows[]` has other numbers of tenants and, if the system
 * sets quotas, unequal quotas, each with the ratio of smallest to largest and the index of single windows. `iterations`
 * and `resolution` do not apply.
 */
export const measureFairness = measureFunction(fairness);

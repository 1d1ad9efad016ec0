/** IS-006: how much of its compute a tenant keeps while another one, within its own quota, works beside it. */
import * as v from 'valibot';
import { count, interval, quantity, rows } from '../core/details.js';
import { quotaPercent, shareLines } from './share-fields.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { mean } from 'simple-statistics';
import type { Load } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { figureOfWindows } from '../../stats/figure-of-windows.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type MetricDefinition, unsupported } from '../core/metric.js';
import { windowInterval } from '../core/sample-stats.js';
import { isOutOfMemory } from '../core/row-state.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import {
  amongTenants,
  commonBins,
  type CoTenants,
  type LoadTimes,
  type Quota,
  limitsCompute,
  setsQuotas,
  shareLine,
  total,
  type WholeCard,
  wholeCard,
} from './shared/co-tenants.js';
import { clockDropPercent, interferencePercent } from '../../stats/interference.js';
import { type Sharing, sharingFields, traceSharing, type Unseen } from './shared/sharing.js';
import { NS_PER_MS } from '../core/units.js';

interface IsolationTimes extends LoadTimes {
  series: number;
  traceMs: number;
}

const TIMES: Record<Tier, IsolationTimes> = {
  quick: { durationMs: 400, binMs: 50, series: 1, traceMs: 100 },
  standard: { durationMs: 2_000, binMs: 100, series: 1, traceMs: 300 },
  thorough: { durationMs: 5_000, binMs: 100, series: 3, traceMs: 300 },
};
/** The blocks of a series, alternating, so that drift affects both kinds equally. */
const ORDER = ['alone', 'together', 'together', 'alone'] as const;

interface Block {
  /** Work of each running tenant in the bins common to all. */
  work: number[][];
  smClockMhz: number | null;
}

const isolationRow = v.strictObject({
  tenants: count('Tenants'),
  limitPercent: quotaPercent,
  retainedPercent: quantity('%', 'Work of the tenant beside the others, of its work alone'),
  ci95: interval('%', 'retainedPercent'),
  entitlementPercent: v.nullable(
    quantity('%', "Work relative to the tenant's quota of the whole card; null if it has no quota"),
  ),
  interferencePercent: v.nullable(
    quantity(
      '%',
      '0 if the common work took as long as the longer part alone, 100 if as long as both one after the other; null with more than two tenants, or if one did nothing',
    ),
  ),
  clockDropPercent: v.nullable(
    quantity('%', 'Decrease of the SM clock beside the others; null if NVML does not report it'),
  ),
});

const details = v.strictObject({
  rows: rows(isolationRow, 'A row per number of tenants'),
  shares: shareLines,
  sharing: v.nullable(sharingFields),
  context: v.optional(processContext),
});

export type ComputeIsolationDetails = v.InferOutput<typeof details>;

interface Row extends v.InferOutput<typeof isolationRow> {
  shares: ReturnType<typeof shareLine>[];
  checks: Check[];
}

/** NVML is read from outside, halfway through the block. */
async function block(
  { truth }: MeasureContext,
  tenants: CoTenants,
  places: readonly number[],
  times: LoadTimes,
): Promise<Block | null> {
  const clock = sleep(times.durationMs / 2).then(() => truth?.smClockMhz() ?? null);
  const [loads, smClockMhz] = await Promise.all([tenants.load(places, times), clock]);
  const common = commonBins(loads as Load[], times.binMs);
  return common && { work: common.work, smClockMhz };
}

const perBin = (blocks: readonly Block[], place: number): number[] =>
  blocks.flatMap(({ work }) => work[place] as number[]);

interface Plan {
  whole: WholeCard;
  times: IsolationTimes;
}

async function rowOf(
  context: MeasureContext,
  tenants: CoTenants,
  quota: Quota,
  { whole, times }: Plan,
): Promise<Row | null> {
  const all = tenants.workers.map((_, place) => place);
  const blocks: Record<(typeof ORDER)[number], Block[]> = { alone: [], together: [] };
  const second = await block(context, tenants, [1], times);
  for (let i = 0; i < times.series; i++)
    for (const kind of ORDER) {
      const done = await block(context, tenants, kind === 'alone' ? [0] : all, times);
      if (!done) return null;
      blocks[kind].push(done);
    }
  if (!second) return null;
  const [alone, together] = [perBin(blocks.alone, 0), perBin(blocks.together, 0)];
  const retained = (a: readonly number[], b: readonly number[]) => (100 * mean([...b])) / mean([...a]);
  const pick = (work: readonly number[], places: readonly number[]) => places.map((place) => work[place] as number);
  const wholeBin = whole.rate * times.binMs * NS_PER_MS;
  return {
    tenants: all.length,
    limitPercent: quota,
    retainedPercent: retained(alone, together),
    ci95: figureOfWindows(
      [alone.length, together.length],
      ([a, b]) => retained(pick(alone, a as number[]), pick(together, b as number[])),
      { isPositive: true },
    ).ci95,
    entitlementPercent: quota === null ? null : (100 * mean(together)) / ((quota / 100) * wholeBin),
    interferencePercent:
      all.length > 2
        ? null
        : interferencePercent({
            together: 1,
            firstAlone: mean(together) / mean(alone),
            secondAlone: mean(perBin(blocks.together, 1)) / mean(perBin([second], 0)),
          }),
    clockDropPercent: clockDropPercent(
      blocks.alone.map(({ smClockMhz }) => smClockMhz),
      blocks.together.map(({ smClockMhz }) => smClockMhz).find((mhz) => mhz !== null) ?? null,
    ),
    shares: [
      shareLine(`${nameOf(0, all.length)}, alone`, quota, times.binMs, alone, whole),
      ...all.map((place) =>
        shareLine(nameOf(place, all.length), quota, times.binMs, perBin(blocks.together, place), whole),
      ),
    ],
    checks: [progressed(blocks.together, all.length), workedAlone(alone)],
  };
}

const nameOf = (place: number, count: number): string => `tenant ${place + 1} of ${count}`;

function progressed(blocks: readonly Block[], count: number): Check {
  const idle = blocks.filter(({ work }) => work.slice(1).some((of) => total(of) === 0)).length;
  return {
    name: `neighbours worked in every block (${count} tenants)`,
    passed: idle === 0,
    detail: idle === 0 ? `in ${blocks.length} blocks` : `one did nothing in ${idle} of ${blocks.length} blocks`,
  };
}

const workedAlone = (alone: readonly number[]): Check => ({
  name: 'the tenant worked alone',
  passed: total(alone) > 0,
  detail: `in ${alone.length} bins`,
});

interface Outcome {
  row: Row | null;
  sharing: Sharing | Unseen | null;
  entered: ReturnType<typeof contextOf>;
}

async function among(context: MeasureContext, count: number, plan: Plan): Promise<Outcome> {
  const quota = setsQuotas(context) ? 100 / count : null;
  return amongTenants(context, Array<Quota>(count).fill(quota), async (tenants) => {
    const [first, second] = tenants.workers;
    const sharing =
      count === 2 && first && second
        ? await traceSharing(context.system, tenants.scene.scene, [first, second], plan.times.traceMs)
        : null;
    return { row: await rowOf(context, tenants, quota, plan), sharing, entered: contextOf(tenants.scene.scene) };
  });
}

function judge(context: MeasureContext, measured: readonly Outcome[]) {
  const rows = measured.flatMap(({ row }) => row ?? []);
  const found = {
    rows: rows.map(({ checks: _checks, shares: _shares, ...row }) => row),
    shares: rows.flatMap(({ shares }) => shares),
    sharing: measured[0]?.sharing ?? null,
    context: measured[0]?.entered,
  };
  const headline = measured[0]?.row ?? null;
  const common: Check = {
    name: 'the tenants worked at the same time',
    passed: rows.length === measured.length,
    detail: `in ${rows.length} of ${measured.length} rows`,
  };
  const checks = [common, ...rows.flatMap((row) => row.checks)];
  const invalid = invalidBy(checks);
  if (invalid.status === undefined && !limitsCompute(context))
    return {
      ...unsupported('the system sets no compute limit; the details have the result of two tenants without one', found),
      checks,
    };
  return {
    ...invalid,
    value: headline?.retainedPercent ?? null,
    ...windowInterval(headline?.ci95),
    ciScope: 'within-process' as const,
    processes: 2,
    headline: null,
    details: found,
    checks,
  };
}

/** With given times, for tests; without them the tier decides. */
export const computeIsolationBy =
  (times?: IsolationTimes): MetricDefinition<ComputeIsolationDetails>['measure'] =>
  async (context) => {
    const { tier } = context.options;
    try {
      const plan = { whole: await wholeCard(context), times: times ?? TIMES[tier] };
      const counts = tier === 'thorough' ? [2, 4] : [2];
      const outcomes: Outcome[] = [];
      for (const count of counts) {
        outcomes.push(await among(context, count, plan));
        context.progress(`${count} tenants`, outcomes.length / counts.length);
      }
      return judge(context, outcomes);
    } catch (error) {
      if (isOutOfMemory(error)) return unsupported(`two tenants do not fit: ${error.message}`);
      throw error;
    }
  };

export const computeIsolation: MetricDefinition<ComputeIsolationDetails> = {
  id: 'IS-006',
  name: 'Cross-Tenant Compute Isolation',
  category: 'isolation',
  unit: '%',
  direction: 'higher',
  question: 'How much of what you paid for survives an honest, well-behaved co-tenant?',
  estimator:
    'work per second beside another tenant ÷ alone, both under a quota of half the card, whatever limit is configured',
  delta: { absolute: 3 },
  needs: ['two tenants', 'a system with a compute limit'],
  functionName: 'measureComputeIsolation',
  where: 'fresh-processes',
  details,
  seconds: { quick: 5, standard: 14, thorough: 150 },
  measure: computeIsolationBy(),
};

/**
 * IS-006, %, unclamped: work per second of a tenant beside another one, relative to alone, both under a quota of half
 * the card. `details.rows[]` has the entitlement attained and, at tier `thorough`, four tenants; `details.sharing` says
 * where and when blocks of both ran. Without a compute limit it is `unsupported`, with the row in its details.
 * `iterations` and `resolution` do not apply.
 */
export const measureComputeIsolation = measureFunction(computeIsolation);

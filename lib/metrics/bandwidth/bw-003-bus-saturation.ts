/**
 * BW-003: whether tenants that each use an eighth of the GPU together reach the memory bandwidth of one process alone.
 */
import * as v from 'valibot';
import { count, described, quantity, rows, text } from '../core/details.js';
import type { Check, Tier } from '../../results/document.js';
import { outside } from '../core/impossible.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { isOutOfMemory, unlessFull } from '../core/row-state.js';
import { contextOf, grown, type Populated, processContext, separable, withTenants } from '../tenants/tenants.js';
import { alone, type Alone, aloneChecks, BIN_MS, boundCheck, rehearse, stream, togetherIn } from './streams.js';

interface SaturationPlan {
  /** Numbers of tenants in ascending order; the last one is the plateau. */
  tenants: readonly number[];
  /** Length of each window of one process alone. */
  aloneMs: number;
  togetherMs: number;
}

const MOST = 8;
const PLANS: Record<Tier, SaturationPlan> = {
  quick: { tenants: [1, 2, 4, MOST], aloneMs: 80, togetherMs: 500 },
  standard: { tenants: [1, 2, 3, 4, 5, 6, 7, MOST], aloneMs: 200, togetherMs: 1_500 },
  thorough: { tenants: [1, 2, 3, 4, 5, 6, 7, MOST], aloneMs: 400, togetherMs: 3_000 },
};
const SATURATED = 0.95;
/** More tenants may move less than fewer tenants; up to this fraction of the plateau the difference is noise. */
const NOISE = 0.1;

const rate = v.pipe(v.number(), v.finite());

const details = v.strictObject({
  rows: rows(
    v.strictObject({
      tenants: count('Tenants'),
      aggregateGbPerSecond: v.nullable(quantity('GB/s', 'All of them together; null if it was not measured')),
      ofAlone: v.nullable(described(rate, 'The same, divided by the rate of one process; null if it was not measured')),
      unsupported: v.optional(text('Why the row has no numbers')),
    }),
    'A row per number of tenants',
  ),
  n95: v.nullable(count('The fewest tenants that reach 95 % of the last row; null if none do')),
  blocksOfTenant: count('Blocks of the kernel of a tenant'),
  aloneGbPerSecond: quantity('GB/s', 'One process with all blocks'),
  aloneWindowsGbPerSecond: rows(rate, 'The same in each of its windows (GB/s)'),
  context: v.optional(processContext),
});

export type BusSaturationDetails = v.InferOutput<typeof details>;

type Row = BusSaturationDetails['rows'][number];

type Aggregate = { gbs: number } | { reason: string; isFull: boolean };

/** The rate of all tenants together, or why there is none: they do not fit, or did not run at the same time. */
async function together(populated: Populated, tenants: number, request: { windowMs: number; blocks: number }) {
  const full = (reason: string): Aggregate => ({ reason: `${tenants} tenants do not fit: ${reason}`, isFull: true });
  const { scene } = populated;
  const before = scene.workers.length;
  const refused = await grown(populated, tenants);
  if (refused !== null) return full(refused);
  const workers = scene.workers.slice(0, tenants);
  try {
    await rehearse(workers.slice(before));
    const all = await stream(
      scene,
      'read',
      workers.map((worker) => ({ worker, ...request })),
    );
    const found = togetherIn(all, BIN_MS);
    if (found === null) return { reason: 'the tenants did not run at the same time', isFull: false };
    return { gbs: found.rates.reduce((sum, rate) => sum + rate, 0) };
  } catch (error) {
    if (isOutOfMemory(error)) return full(error.message);
    throw error;
  }
}

async function sweep(context: MeasureContext, populated: Populated, plan: SaturationPlan, whole: Alone) {
  const blocks = Math.ceil(whole.multiprocessors / MOST);
  const table: Row[] = [];
  for (const tenants of plan.tenants) {
    const found = await together(populated, tenants, { windowMs: plan.togetherMs, blocks });
    table.push(
      'gbs' in found
        ? { tenants, aggregateGbPerSecond: found.gbs, ofAlone: found.gbs / whole.gbPerSecond }
        : { tenants, aggregateGbPerSecond: null, ofAlone: null, unsupported: found.reason },
    );
    if ('isFull' in found && found.isFull) break;
    context.progress(`${tenants} tenants`, table.length / plan.tenants.length);
  }
  return { table, blocks, entered: contextOf(populated.scene) };
}

const rateOf = ({ aggregateGbPerSecond }: Row): number => aggregateGbPerSecond ?? 0;

function monotone(rows: readonly Row[]): Check {
  const most = Math.max(...rows.map(rateOf));
  const falls = rows.find((row, i) => i > 0 && rateOf(row) < rateOf(rows[i - 1] as Row) - NOISE * most);
  return {
    name: 'more tenants move no less',
    passed: falls === undefined,
    detail: falls
      ? `${falls.tenants} moved ${rateOf(falls).toPrecision(4)} GB/s, fewer had moved more`
      : `${rows.map(({ tenants }) => tenants).join(', ')} tenants`,
  };
}

async function measure(context: MeasureContext, plan: SaturationPlan): Promise<Measured<BusSaturationDetails>> {
  const whole = await alone(context, 'read', plan.aloneMs);
  const topology = separable(context.system) ? 'separate' : 'shared';
  const { table, blocks, entered } = await withTenants(context, { topology }, (populated) =>
    sweep(context, populated, plan, whole),
  );
  const plateau = table.at(-1) as Row;
  const n95 = table.find((row) => rateOf(row) >= SATURATED * rateOf(plateau))?.tenants ?? null;
  const ofAlone = { aloneGbPerSecond: whole.gbPerSecond, aloneWindowsGbPerSecond: [...whole.windows] };
  const found = { rows: table, n95, blocksOfTenant: blocks, ...ofAlone, context: entered };
  if (plateau.ofAlone === null) return unsupported(plateau.unsupported ?? 'no tenant streamed memory', found);
  const rates = table.flatMap(({ tenants, aggregateGbPerSecond: gbs }) =>
    gbs === null ? [] : [{ name: `${tenants} tenants`, gbs, tenants }],
  );
  const checks = [...aloneChecks('read', whole), boundCheck(rates, whole.ceilingGbs, context.system), monotone(table)];
  return {
    ...invalidBy(checks),
    value: plateau.ofAlone,
    ci95: null,
    ciScope: 'within-process',
    processes: plateau.tenants,
    headline: null,
    details: found,
    checks,
  };
}

/** With a given plan, for tests; without one the tier decides. */
export const busSaturationBy =
  (plan?: SaturationPlan): MetricDefinition<BusSaturationDetails>['measure'] =>
  (context) =>
    unlessFull('the buffers of one process', measure(context, plan ?? PLANS[context.options.tier]));

export const busSaturation: MetricDefinition<BusSaturationDetails> = {
  id: 'BW-003',
  name: 'Memory Bus Saturation Point',
  category: 'bandwidth',
  unit: 'ratio',
  direction: 'higher',
  question: 'How many bandwidth-bound tenants can share the GPU before they only take bandwidth from each other?',
  estimator: 'rate of eight tenants that read memory with an eighth of the blocks each ÷ that of one with all of them',
  delta: { relative: 0.03 },
  impossible: outside(0, 1.05 * MOST),
  needs: ['eight tenants'],
  functionName: 'measureBusSaturation',
  where: 'fresh-processes',
  details,
  seconds: { quick: 7, standard: 22, thorough: 40 },
  lineCharts: [
    {
      title: 'Bandwidth of all tenants together',
      axes: { x: 'tenants', y: 'GB/s' },
      rows: 'rows',
      point: { x: 'tenants', y: 'aggregateGbPerSecond' },
    },
  ],
  measure: busSaturationBy(),
};

/**
 * BW-003: the rate at which eight tenants together read memory, relative to one unlimited process. Each tenant has as
 * many blocks as an eighth of the multiprocessors; the one process has all of them. The value is about 1 if tenants run
 * at the same time, and about the share of a single tenant if they take turns. `details.rows[]` has the GB/s of 1 to 8
 * tenants, `details.n95` the smallest number of tenants that reaches 95 % of the last row. If eight tenants do not fit,
 * it is `unsupported`. `iterations`, `warmup` and `resolution` do not apply.
 */
export const measureBusSaturation = measureFunction(busSaturation);

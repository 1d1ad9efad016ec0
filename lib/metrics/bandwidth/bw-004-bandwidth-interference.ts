/** BW-004: how much bandwidth a tenant that streams memory loses to neighbours that stream memory too. */
import * as v from 'valibot';
import { count, described, interval, quantity, rows, text } from '../core/details.js';
import type { Check, Tier } from '../../results/document.js';
import { figureOfWindows } from '../../stats/figure-of-windows.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { outside } from '../core/impossible.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { unlessFull } from '../core/row-state.js';
import { windowInterval } from '../core/sample-stats.js';
import { contextOf, grown, type Populated, processContext, separable, withTenants } from '../tenants/tenants.js';
import { lossPercent } from '../../stats/interference.js';
import { NS_PER_MS } from '../core/units.js';
import { BIN_MS, boundCheck, bytesBetween, type Rate, rehearse, stream, type Streamed, together } from './streams.js';

interface InterferencePlan {
  /** Numbers of neighbours in ascending order; the value is that of the last one. */
  neighbours: readonly number[];
  aloneMs: number;
  togetherMs: number;
  /** Number of repetitions of four blocks: alone, together, together, alone. */
  turns: number;
}

const MOST = 3;
const PLANS: Record<Tier, InterferencePlan> = {
  quick: { neighbours: [MOST], aloneMs: 300, togetherMs: 500, turns: 1 },
  standard: { neighbours: [1, 2, MOST], aloneMs: 1_500, togetherMs: 1_500, turns: 1 },
  thorough: { neighbours: [1, 2, MOST], aloneMs: 3_000, togetherMs: 3_000, turns: 3 },
};
/** Neighbours stream this much longer, so that the victim ends before them. */
const MARGIN_MS = 300;

/** GB/s of the victim in each bin of the measured time. */
type Bins = readonly number[];

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const drawn = (bins: Bins, draw: readonly number[]): number[] => draw.map((bin) => bins[bin] as number);

function binsOf(victim: Streamed, fromNs: number, toNs: number): number[] {
  const binNs = BIN_MS * NS_PER_MS;
  return Array.from({ length: Math.floor((toNs - fromNs) / binNs) }, (_, bin) => {
    const begin = fromNs + bin * binNs;
    return bytesBetween(victim, begin, begin + binNs) / binNs;
  });
}

class Play {
  readonly #populated: Populated;
  readonly #plan: InterferencePlan;
  readonly alone: number[] = [];
  readonly together: number[] = [];
  /** GB/s of each neighbour while the victim streamed, for each block. */
  readonly neighbours: number[][] = [];
  ceilingGbs = 0;

  constructor(populated: Populated, plan: InterferencePlan) {
    this.#populated = populated;
    this.#plan = plan;
  }

  async run(count: number): Promise<void> {
    const [victim, ...others] = this.#populated.scene.workers.slice(0, count + 1) as [WorkerTenant, ...WorkerTenant[]];
    for (let turn = 0; turn < this.#plan.turns; turn++) {
      await this.#alone(victim);
      await this.#together(victim, others);
      await this.#together(victim, others);
      await this.#alone(victim);
    }
  }

  async #alone(worker: WorkerTenant): Promise<void> {
    const windowMs = this.#plan.aloneMs;
    const [victim] = (await stream(this.#populated.scene, 'read', [{ worker, windowMs }])) as [Streamed];
    this.ceilingGbs = victim.ceilingGbs;
    this.alone.push(...binsOf(victim, victim.fromNs, victim.toNs));
  }

  async #together(worker: WorkerTenant, others: readonly WorkerTenant[]): Promise<void> {
    const { togetherMs } = this.#plan;
    const long = togetherMs + MARGIN_MS;
    const [victim, ...neighbours] = (await stream(this.#populated.scene, 'read', [
      { worker, windowMs: togetherMs },
      ...others.map((other) => ({ worker: other, windowMs: long })),
    ])) as [Streamed, ...Streamed[]];
    const fromNs = Math.max(victim.fromNs, ...neighbours.map((each) => each.fromNs));
    const toNs = Math.min(victim.toNs, ...neighbours.map((each) => each.toNs));
    if (toNs <= fromNs) return;
    this.together.push(...binsOf(victim, fromNs, toNs));
    this.neighbours.push(neighbours.map((each) => bytesBetween(each, fromNs, toNs) / (toNs - fromNs)));
  }
}

const details = v.strictObject({
  rows: rows(
    v.strictObject({
      neighbours: count('Other tenants'),
      lossPercent: v.nullable(quantity('%', 'What the tenant loses of its rate alone; null if it was not measured')),
      ci95: v.optional(interval('%', 'lossPercent')),
      excessPercent: v.optional(quantity('percentage points', 'Its loss beyond that of an equal division')),
      aloneGbPerSecond: v.optional(quantity('GB/s', 'The tenant alone')),
      togetherGbPerSecond: v.optional(quantity('GB/s', 'The tenant beside the others')),
      neighboursGbPerSecond: v.optional(rows(v.pipe(v.number(), v.finite()), 'The rate of each of the others (GB/s)')),
      bins: v.optional(
        described(
          v.strictObject({ alone: count('Windows alone'), together: count('Windows beside the others') }),
          'Windows from which the interval is drawn',
        ),
      ),
      ceilingGbPerSecond: v.optional(quantity('GB/s', 'What the memory can move; 0 if that is not known')),
      unsupported: v.optional(text('Why the row has no numbers')),
    }),
    'A row per number of other tenants',
  ),
  binMs: quantity('ms', 'Length of the windows'),
  context: v.optional(processContext),
});

export type BandwidthInterferenceDetails = v.InferOutput<typeof details>;

type Row = BandwidthInterferenceDetails['rows'][number];

function rowOf(neighbours: number, { alone, together, neighbours: others, ceilingGbs }: Play): Row {
  if (alone.length === 0 || together.length === 0)
    return {
      neighbours,
      lossPercent: null,
      unsupported: `no ${BIN_MS} ms in which the victim and all neighbours streamed`,
    };
  const loss = (a: Bins, b: Bins) => lossPercent(mean(a), mean(b));
  const value = loss(alone, together);
  return {
    neighbours,
    lossPercent: value,
    ci95: figureOfWindows(
      [alone.length, together.length],
      ([a, b]) => loss(drawn(alone, a as readonly number[]), drawn(together, b as readonly number[])),
      { isPositive: false },
    ).ci95,
    excessPercent: value - (100 * neighbours) / (neighbours + 1),
    aloneGbPerSecond: mean(alone),
    togetherGbPerSecond: mean(together),
    neighboursGbPerSecond: others[0]?.map((_, place) => mean(others.map((block) => block[place] as number))) ?? [],
    bins: { alone: alone.length, together: together.length },
    ceilingGbPerSecond: ceilingGbs,
  };
}

async function sweep(context: MeasureContext, populated: Populated, plan: InterferencePlan) {
  const table: Row[] = [];
  for (const count of plan.neighbours) {
    const before = populated.scene.workers.length;
    const reason = await grown(populated, count + 1);
    if (reason !== null) {
      table.push({ neighbours: count, lossPercent: null, unsupported: `${count + 1} tenants do not fit: ${reason}` });
      break;
    }
    await rehearse(populated.scene.workers.slice(before));
    const play = new Play(populated, plan);
    await play.run(count);
    table.push(rowOf(count, play));
    context.progress(`${count} neighbours`, table.length / plan.neighbours.length);
  }
  return { table, entered: contextOf(populated.scene) };
}

const ratesOf = ({ neighbours, aloneGbPerSecond, togetherGbPerSecond, neighboursGbPerSecond = [] }: Row): Rate[] =>
  aloneGbPerSecond === undefined || togetherGbPerSecond === undefined
    ? []
    : [
        together('the victim alone', [aloneGbPerSecond]),
        together(`the victim and ${neighbours} neighbours`, [togetherGbPerSecond, ...neighboursGbPerSecond]),
      ];

async function measure(
  context: MeasureContext,
  plan: InterferencePlan,
): Promise<Measured<BandwidthInterferenceDetails>> {
  const topology = separable(context.system) ? 'separate' : 'shared';
  const { table, entered } = await withTenants(context, { topology }, (populated) => sweep(context, populated, plan));
  const found = { rows: table, binMs: BIN_MS, context: entered };
  const headline = table.at(-1) as Row;
  if (headline.lossPercent === null) return unsupported(headline.unsupported ?? 'not measured', found);
  const idle = (headline.neighboursGbPerSecond ?? []).filter((rate) => !(rate > 0)).length;
  const checks: Check[] = [
    {
      name: 'every neighbour streamed beside the victim',
      passed: idle === 0,
      detail: idle === 0 ? `${headline.neighbours}, by stamps of the device` : `${idle} moved nothing`,
    },
    boundCheck(table.flatMap(ratesOf), headline.ceilingGbPerSecond ?? 0, context.system),
  ];
  return {
    ...invalidBy(checks),
    value: headline.lossPercent,
    ...windowInterval(headline.ci95),
    ciScope: 'within-process',
    processes: headline.neighbours + 1,
    headline: null,
    details: found,
    checks,
  };
}

/** With a given plan, for tests; without one the tier decides. */
export const bandwidthInterferenceBy =
  (plan?: InterferencePlan): MetricDefinition<BandwidthInterferenceDetails>['measure'] =>
  (context) =>
    unlessFull('the tenants', measure(context, plan ?? PLANS[context.options.tier]));

export const bandwidthInterference: MetricDefinition<BandwidthInterferenceDetails> = {
  id: 'BW-004',
  name: 'Bandwidth Interference Impact',
  category: 'bandwidth',
  unit: '%',
  direction: 'lower',
  question: 'How much slower does a memory-bound model get beside tenants that stream memory?',
  estimator: 'loss of the rate at which a tenant reads memory while three others read memory, relative to alone',
  delta: { absolute: 2 },
  // A victim that moves nothing has lost everything.
  impossible: outside(-Infinity, 100),
  needs: ['four tenants'],
  functionName: 'measureBandwidthInterference',
  where: 'fresh-processes',
  lineCharts: [
    {
      title: 'Bandwidth of a tenant beside others that read memory',
      axes: { x: 'other tenants', y: 'GB/s' },
      rows: 'rows',
      point: { x: 'neighbours', y: 'togetherGbPerSecond' },
    },
  ],
  details,
  seconds: { quick: 7, standard: 24, thorough: 120 },
  measure: bandwidthInterferenceBy(),
};

/**
 * BW-004, %, signed: how much of its rate alone a tenant that reads memory loses while three others read memory. An
 * equal part for each of four tenants costs 75 %; `details.rows[]` has the further loss as `excessPercent` and, from
 * tier `standard` on, rows for one and two neighbours. Blocks alone and together alternate. `iterations`, `warmup` and
 * `resolution` do not apply.
 */
export const measureBandwidthInterference = measureFunction(bandwidthInterference);

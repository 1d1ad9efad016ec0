/** PCIE-003: how much bandwidth each tenant loses when several tenants copy at the same time. */
import * as v from 'valibot';
import { choice, count, described, quantity, rows } from '../core/details.js';
import type { Aggression, AggressorKind, PcieLink } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { overlapAtWork } from '../../workers/activity.js';
import { askSession, sessionTaskOf } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { idleReason } from '../isolation/shared/aggressor-menu.js';
import {
  invalidBy,
  type LineChart,
  type MeasureContext,
  type Measured,
  type MetricDefinition,
  unsupported,
} from '../core/metric.js';
import { outside } from '../core/impossible.js';
import { measureFunction } from '../core/measure-function.js';
import { withMoreLead } from '../tenants/more-lead.js';
import { grown, type Populated, separable, withTenants } from '../tenants/tenants.js';
import { MIB, NS_PER_MS } from '../core/units.js';
import { BenchError } from '../../errors/bench-error.js';
import { describedLink, linkDetails, noFasterThan, unboundedBy, wholeLink } from './link.js';

const TO_DEVICE: AggressorKind = 'copyToDevice';
const TO_HOST: AggressorKind = 'copyToHost';
const MOST_TENANTS = 4;
const FEWEST_TENANTS = 2;

interface Times {
  aloneMs: number;
  togetherMs: number;
  /**
   * Lead time before a release, as a multiple of the usual one: each tenant first pins memory and copies all of it
   * once.
   */
  leads: number;
}
const TIMES: Record<Tier, Times> = {
  quick: { aloneMs: 150, togetherMs: 300, leads: 5 },
  standard: { aloneMs: 500, togetherMs: 1_000, leads: 5 },
  thorough: { aloneMs: 2_000, togetherMs: 5_000, leads: 10 },
};
const GRACE_MS = 60_000;
/** Multiples of that lead, tried in turn until every tenant is ready at the release: some hosts pin memory slowly. */
const MORE_LEAD = [1, 4, 16];
/** Fraction of the longest tenant's time during which all tenants must copy. */
const TOGETHER = 0.8;
/** Size of the copies that keep the link busy while it is read. */
const LINK_COPY = 16 * MIB;

const DIRECTIONS = ['to the device', 'to the host', 'mixed'] as const;
type Direction = (typeof DIRECTIONS)[number];

interface Group {
  direction: Direction;
  tenants: number;
}

/** GB/s of each tenant in one window. */
type Rates = number[];

interface Row extends Group {
  /** GB/s of one tenant alone in each direction: the mean of before and after. */
  aloneGbs: number[];
  together: Rates[];
}

const kindOf = (direction: Direction, place: number): AggressorKind =>
  direction === 'to the device' || (direction === 'mixed' && place % 2 === 0) ? TO_DEVICE : TO_HOST;

const groupsOf = (tier: Tier, tenants: number): Group[] => {
  const largest: Group = { direction: 'to the device', tenants };
  const fewer: Group[] = tenants > FEWEST_TENANTS ? [{ ...largest, tenants: FEWEST_TENANTS }] : [];
  const others = DIRECTIONS.slice(1).map((direction) => ({ direction, tenants }));
  return [largest, ...fewer, ...(tier === 'quick' ? [] : others)];
};

/** Bytes per nanosecond are GB/s. Throws if the tenant copied nothing. */
function rateOf(aggression: Aggression): number {
  const idle = idleReason(aggression);
  if (idle !== null) throw new BenchError('INVALID_RESULT', `a tenant did not copy: ${idle}`);
  const { operations, operationBytes = 0, startedNs, endedNs } = aggression;
  return (operations * operationBytes) / (endedNs - startedNs);
}

function simultaneous(aggressions: readonly Aggression[]): void {
  const span = overlapAtWork(
    aggressions.map(({ startedNs, endedNs, marksNs }) => ({ startNs: startedNs, endNs: endedNs, marksNs })),
  );
  const longest = Math.max(...aggressions.map(({ startedNs, endedNs }) => endedNs - startedNs));
  const common = span ? (span.toNs - span.fromNs) / longest : 0;
  if (common >= TOGETHER) return;
  const detail = `only ${(100 * common).toFixed(0)} % of the longest tenant's time was common to all`;
  throw new BenchError('INVALID_RESULT', `the tenants did not copy at the same time: ${detail}`);
}

async function copyOnce(
  { scene }: Populated,
  kinds: ReadonlyMap<WorkerTenant, AggressorKind>,
  windowMs: number,
  leads: number,
): Promise<Aggression[]> {
  const tasks = new Map(
    [...kinds].map(([tenant, kind]) => [
      tenant,
      sessionTaskOf('aggressor', { kind, windowNs: windowMs * NS_PER_MS, quotaBytes: 0 }),
    ]),
  );
  return scene.releaseAll<Aggression>(tasks, windowMs + GRACE_MS, leads);
}

/** Repeated with more lead while a tenant began late, which is known before any of its copies. */
async function copy(
  populated: Populated,
  kinds: ReadonlyMap<WorkerTenant, AggressorKind>,
  windowMs: number,
  leads: number,
): Promise<Rates> {
  const lateMs = (aggressions: readonly Aggression[]) =>
    Math.max(...aggressions.map(({ startedNs }) => startedNs)) / NS_PER_MS;
  const { found, isLate, tries } = await withMoreLead(
    MORE_LEAD,
    (more) => copyOnce(populated, kinds, windowMs, leads * more),
    (aggressions) => lateMs(aggressions) > (1 - TOGETHER) * windowMs,
  );
  if (isLate)
    throw new BenchError(
      'INVALID_RESULT',
      `a tenant was not ready to copy until ${lateMs(found).toFixed(0)} ms after the release in each of ${tries} tries; stop other programs and measure again.`,
    );
  for (const { missing } of found)
    if (missing !== null) throw new BenchError('FUNCTION_MISSING', `a tenant cannot copy: ${missing}`);
  simultaneous(found);
  return found.map(rateOf);
}

/** Alone, together, together, alone, so that drift affects both alike. */
async function measureGroup(populated: Populated, group: Group, { aloneMs, togetherMs, leads }: Times): Promise<Row> {
  const workers = populated.scene.workers.slice(0, group.tenants);
  const kinds = new Map(workers.map((worker, place) => [worker, kindOf(group.direction, place)]));
  const first = workers[0] as WorkerTenant;
  // In a mixed group the first two tenants have different directions.
  const single = group.direction === 'mixed' ? workers.slice(0, 2) : [first];
  const alone = async () => {
    const rates: number[] = [];
    for (const worker of single)
      rates.push(...(await copy(populated, new Map([[worker, kinds.get(worker) as AggressorKind]]), aloneMs, leads)));
    return rates;
  };
  const before = await alone();
  const together = [await copy(populated, kinds, togetherMs, leads), await copy(populated, kinds, togetherMs, leads)];
  const after = await alone();
  return { ...group, aloneGbs: before.map((rate, i) => (rate + (after[i] as number)) / 2), together };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The loss of the worst-off tenant over both windows, relative to one tenant alone in the same direction. */
export function impactOf({ direction, tenants, aloneGbs, together }: Row) {
  const gbs = Array.from({ length: tenants }, (_, place) => mean(together.map((rates) => rates[place] as number)));
  const shares = gbs.map((rate, place) => rate / (aloneGbs[direction === 'mixed' ? place % 2 : 0] as number));
  const worst = Math.min(...shares);
  const aggregateGbs = gbs.reduce((sum, rate) => sum + rate, 0);
  const impactPercent = 100 * (1 - worst);
  return {
    direction,
    tenants,
    aloneGbs,
    gbs,
    aggregateGbs,
    aggregateOverAlone: aggregateGbs / mean(aloneGbs),
    impactPercent,
    // A link that is shared fairly leaves each tenant an equal part.
    excessPoints: direction === 'mixed' ? null : impactPercent - 100 * (1 - 1 / tenants),
  };
}

/** Sum of the rates in each direction, which the link bounds. */
const aggregates = (rows: readonly ReturnType<typeof impactOf>[]) =>
  rows.flatMap(({ direction, tenants, gbs, aloneGbs }) => {
    const ways = direction === 'mixed' ? [0, 1] : [0];
    return ways.flatMap((way) => {
      const own = gbs.filter((_, place) => direction !== 'mixed' || place % 2 === way);
      const name = `${tenants} tenants, ${direction}`;
      return [
        { name, gbs: own.reduce((sum, rate) => sum + rate, 0) },
        { name: 'one tenant alone', gbs: aloneGbs[way] as number },
      ];
    });
  });

/** Rows of what goes one way: one tenant alone, and several of them. */
export function curveOf(rows: readonly ReturnType<typeof impactOf>[]) {
  return DIRECTIONS.slice(0, 2).flatMap((direction) => {
    const own = rows.filter((row) => row.direction === direction).sort((a, b) => a.tenants - b.tenants);
    if (own.length === 0) return [];
    const aloneGbs = mean(own.flatMap((row) => row.aloneGbs));
    return [
      { direction, tenants: 1, aggregateGbs: aloneGbs, leastGbs: aloneGbs },
      ...own.map(({ tenants, aggregateGbs, gbs }) => ({
        direction,
        tenants,
        aggregateGbs,
        leastGbs: Math.min(...gbs),
      })),
    ];
  });
}

function judge(groups: readonly Row[], link: PcieLink): Measured<PcieContentionDetails> {
  const impacts = groups.map(impactOf);
  const [headline] = impacts as [ReturnType<typeof impactOf>];
  const value = headline.impactPercent;
  const found = { tenants: headline.tenants, link: describedLink(link), rows: impacts, curve: curveOf(impacts) };
  const unbounded = unboundedBy(link);
  if (unbounded !== null) return unsupported(unbounded, found);
  const bounded: Check = noFasterThan(link, aggregates(impacts));
  return {
    ...invalidBy([bounded]),
    value,
    ci95: null,
    processes: headline.tenants,
    headline: null,
    details: found,
    checks: [bounded, wholeLink(link)],
  };
}

/** With given times, for tests. */
export const contentionBy =
  (times?: Times): MetricDefinition<PcieContentionDetails>['measure'] =>
  (context: MeasureContext) => {
    const { tier, seed } = context.options;
    const topology = separable(context.system) ? 'separate' : 'shared';
    return withTenants(context, { topology }, async (populated) => {
      const few = await grown(populated, FEWEST_TENANTS);
      if (few !== null) return unsupported(`two tenants do not fit: ${few}`);
      const none = await grown(populated, MOST_TENANTS);
      const tenants = none === null ? MOST_TENANTS : FEWEST_TENANTS;
      const rows: Row[] = [];
      for (const group of groupsOf(tier, tenants)) {
        context.progress(`${group.tenants} tenants, ${group.direction}`, rows.length / DIRECTIONS.length / 2);
        rows.push(await measureGroup(populated, group, times ?? TIMES[tier]));
      }
      const link = await askSession(populated.scene.workers[0] as WorkerTenant, {
        name: 'pcieLink',
        request: { bytes: LINK_COPY, seed },
        deadlineMs: GRACE_MS,
      });
      return judge(rows, link);
    });
  };

const tenantsChart = (direction: Direction, title: string, y: 'aggregateGbs' | 'leastGbs'): LineChart => ({
  title: `${title} that copy ${direction}`,
  axes: { x: 'tenants', y: 'GB/s' },
  rows: 'curve',
  point: { x: 'tenants', y },
  where: { direction },
});

const gbs = v.pipe(v.number(), v.finite());

const details = v.strictObject({
  tenants: count('Tenants behind the value'),
  link: linkDetails,
  rows: rows(
    v.strictObject({
      direction: choice(DIRECTIONS, 'Where the tenants copy'),
      tenants: count('Tenants that copy at the same time'),
      aloneGbs: rows(gbs, 'One tenant alone, in each direction (GB/s): the mean of before and after'),
      gbs: rows(gbs, 'Each tenant together with the others (GB/s)'),
      aggregateGbs: quantity('GB/s', 'All tenants together'),
      aggregateOverAlone: described(gbs, 'All tenants together, divided by one alone'),
      impactPercent: quantity('%', 'Loss of the worst-off tenant'),
      excessPoints: v.nullable(
        quantity('percentage points', 'Its loss beyond that of equal parts of the link; null for mixed directions'),
      ),
    }),
    'A row per direction and number of tenants',
  ),
  curve: rows(
    v.strictObject({
      direction: choice(DIRECTIONS, 'Where the tenants copy'),
      tenants: count('Tenants'),
      aggregateGbs: quantity('GB/s', 'All tenants together'),
      leastGbs: quantity('GB/s', 'The worst-off tenant'),
    }),
    'Rates by the number of tenants, for charts',
  ),
});

export type PcieContentionDetails = v.InferOutput<typeof details>;

export const pcieContention: MetricDefinition<PcieContentionDetails> = {
  id: 'PCIE-003',
  name: 'PCIe Contention Impact',
  category: 'pcie',
  unit: '%',
  direction: 'lower',
  question: 'Does one tenant that loads a model stall the transfers of all others?',
  estimator:
    '100 × (1 − worst / alone), bandwidth to the device of the worst-off of 4 tenants that copy at the same time',
  delta: { absolute: 5 },
  // A tenant that copies nothing has lost everything.
  impossible: outside(-Infinity, 100),
  comparedAt: { name: 'tenants', of: ({ tenants }) => tenants },
  needs: ['two tenants'],
  functionName: 'measurePcieContention',
  where: 'fresh-processes',
  lineCharts: [
    tenantsChart('to the device', 'Bandwidth of all tenants together', 'aggregateGbs'),
    tenantsChart('to the device', 'Bandwidth of the worst of several tenants', 'leastGbs'),
    tenantsChart('to the host', 'Bandwidth of all tenants together', 'aggregateGbs'),
  ],
  details,
  seconds: { quick: 4, standard: 14, thorough: 60 },
  measure: contentionBy(),
};

/**
 * PCIE-003, %, signed: how much less bandwidth to the device the worst-off of 4 tenants (2 if no more fit) has than one
 * alone. Equal parts of the link for 4 tenants give 75 %. `details.rows[]` has two tenants, copies to the host and
 * mixed directions, each with the total bandwidth. `iterations`, `warmup` and `resolution` do not apply.
 */
export const measurePcieContention = measureFunction(pcieContention);

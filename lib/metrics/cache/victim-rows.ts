/** A victim that walks a working set beside neighbours: one row for each number and kind of them. */
import * as v from 'valibot';
import { choice, count, described, flag, interval, quantity, rows, text } from '../core/details.js';
import type { Check, Tier } from '../../results/document.js';
import { figureOfWindows } from '../../stats/figure-of-windows.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { invalidBy, type MeasureContext, type Measured, unsupported, withoutNumber } from '../core/metric.js';
import { windowInterval } from '../core/sample-stats.js';
import { isOutOfMemory } from '../core/row-state.js';
import { contextOf, grown, type Populated, processContext, separable, withTenants } from '../tenants/tenants.js';
import {
  BIN_MS,
  type Blocks,
  type BlockTimes,
  inTurn,
  type Neighbours,
  rehearseNeighbours,
  type Victim,
} from './beside.js';
import {
  calibrate,
  type Calibration,
  calibrationDetails,
  chaseAlone,
  indistinct,
  l2Bytes,
  latenciesIn,
  missesBeyond,
  workingSetRow,
} from './calibration.js';
import {
  added,
  type Means,
  meansOf,
  type Scale,
  scaleDetails,
  type Summary,
  summary,
  summaryFields,
  type Tally,
  tallyOf,
} from './latencies.js';

export interface RowPlan {
  neighbours: number;
  kind: Neighbours;
}

export interface VictimPlan {
  victim: Victim;
  /** The value is of the first one. Numbers of neighbours ascend. */
  rows: readonly RowPlan[];
  times: BlockTimes;
}

const summaryDetails = (about: string) => described(v.strictObject(summaryFields), about);

/** Schema of the details of a victim; `own` are the fields of a row that the metric adds. */
export const victimDetails = <const Own extends v.ObjectEntries>(own: Own) =>
  v.strictObject({
    rows: rows(
      v.strictObject({
        neighbours: count('Neighbours'),
        kind: choice(['stream', 'chase'], 'Whether they stream memory or walk a quarter of the cache'),
        ...own,
        ci95: v.optional(interval('%', 'the value of the row')),
        idle: v.optional(summaryDetails('Loads while the neighbours do nothing')),
        together: v.optional(summaryDetails('Loads while every neighbour runs')),
        bins: v.optional(
          described(
            v.strictObject({
              idle: count('Windows while the neighbours do nothing'),
              together: count('Windows while every neighbour runs'),
            }),
            'Windows from which the interval is drawn',
          ),
        ),
        reason: v.optional(text('Why the row has no numbers')),
        full: v.optional(flag('Whether that is because the tenants do not fit')),
      }),
      'A row per number and kind of neighbours',
    ),
    alone: summaryDetails('Loads before any neighbour came'),
    workingSets: rows(workingSetRow, 'A row per size of a working set, walked alone'),
    l2Bytes,
    scale: scaleDetails,
    binMs: quantity('ms', 'Length of the windows'),
    context: v.optional(processContext),
    calibration: calibrationDetails,
  });

/** `full`: the tenants do not fit. */
type Played = RowPlan & ({ blocks: Blocks } | { reason: string; full?: true });

interface Found {
  calibration: Calibration;
  /** Before any neighbour came. */
  alone: Summary;
  rows: Played[];
  context: ReturnType<typeof contextOf>;
}

/** A reason why nothing could be measured, or what was found. */
async function besideNeighbours(
  context: MeasureContext,
  plan: VictimPlan,
): Promise<Found | { reason: string; calibration?: Calibration }> {
  const topology = separable(context.system) ? 'separate' : 'shared';
  try {
    return await withTenants(context, { topology }, (populated) => play(context, populated, plan));
  } catch (error) {
    if (isOutOfMemory(error)) return { reason: `the tenants' working sets do not fit: ${error.message}` };
    throw error;
  }
}

async function play(context: MeasureContext, populated: Populated, { victim, rows: wanted, times }: VictimPlan) {
  await populated.growTo(1);
  const worker = populated.scene.workers[0] as WorkerTenant;
  const calibration = await calibrate(worker, context.options.tier);
  const reason = indistinct(calibration);
  if (reason !== null) return { reason, calibration };
  const own = await chaseAlone(worker, victim.eighths, times.aloneMs, victim.blocks);
  const alone = summary(latenciesIn(own), calibration.scale);
  const played: Played[] = [];
  for (const row of wanted) {
    const full = await grown(populated, row.neighbours + 1);
    played.push(full === null ? await playRow(populated, row) : { ...row, reason: full, full: true });
    context.progress(`${row.neighbours} neighbours: ${row.kind}`, played.length / wanted.length);
  }
  return { calibration, alone, rows: played, context: contextOf(populated.scene) };

  async function playRow({ scene }: Populated, row: RowPlan): Promise<Played> {
    const others = scene.workers.slice(1, row.neighbours + 1);
    const cache = calibration.l2Bytes;
    await rehearseNeighbours(others, row.kind, cache);
    const blocks = await inTurn({ scene, worker, victim, others, kind: row.kind, l2Bytes: cache }, times);
    return blocks.together.length === 0
      ? { ...row, reason: 'no walk of the victim lies in the time in which every neighbour ran' }
      : { ...row, blocks };
  }
}

/** What a metric reads from a row. */
export interface Reading {
  /** The field of a row that has the value. */
  name: string;
  value: (idle: Means, together: Means) => number;
  /** Whether it can only be positive. */
  isPositive: boolean;
  /** Further fields. */
  more: (idle: Means, together: Means) => Record<string, number | null>;
  /** That the victim alone is what the metric supposes. */
  alone: (found: Found) => Check;
}

function intervalOf({ idle, together }: Blocks, scale: Scale, { value: figure, isPositive }: Reading) {
  const tallies = [idle, together].map((bins) => bins.map((bin) => tallyOf(bin, scale))) as [Tally[], Tally[]];
  const of = (place: 0 | 1, windows: readonly (readonly number[])[]) =>
    meansOf(added((windows[place] as readonly number[]).map((bin) => tallies[place][bin] as Tally)));
  return figureOfWindows(
    tallies.map(({ length }) => length),
    (windows) => figure(of(0, windows), of(1, windows)),
    { isPositive },
  ).ci95;
}

function rowOf(played: Played, reading: Reading, scale: Scale) {
  const { name, value, more } = reading;
  if ('reason' in played) return { ...played, [name]: null };
  const { blocks, ...head } = played;
  const [idle, together] = [summary(blocks.idle.flat(), scale), summary(blocks.together.flat(), scale)];
  return {
    ...head,
    [name]: value(idle, together),
    ci95: intervalOf(blocks, scale, reading),
    ...more(idle, together),
    idle,
    together,
    bins: { idle: blocks.idle.length, together: blocks.together.length },
  };
}

function everyNeighbourRan({ neighbourKernels }: Blocks): Check {
  const counts = neighbourKernels.flat();
  const idle = counts.filter((count) => count === 0).length;
  return {
    name: 'every neighbour ran beside the victim',
    passed: idle === 0,
    detail: idle === 0 ? `${Math.min(...counts)} kernels and more, by stamps of the device` : `${idle} did not`,
  };
}

/** The value is that of the first row. Rows have the fields that the reading names, in `Details` too. */
export async function measureBeside<Details>(
  context: MeasureContext,
  plan: VictimPlan,
  reading: Reading,
): Promise<Measured<Details>> {
  return (await measureRows(context, plan, reading)) as Measured<Details>;
}

async function measureRows(context: MeasureContext, plan: VictimPlan, reading: Reading): Promise<Measured> {
  const found = await besideNeighbours(context, plan);
  if ('reason' in found) return unsupported(found.reason, found.calibration && { calibration: found.calibration });
  const { calibration, alone, rows: played } = found;
  const table = played.map((each) => rowOf(each, reading, calibration.scale));
  const { workingSets, ...card } = calibration;
  const details = { rows: table, alone, workingSets, ...card, binMs: BIN_MS, context: found.context };
  const [first, headline] = [played[0] as Played, table[0] as Record<string, unknown>];
  if ('full' in first) return unsupported(first.reason, details);
  if ('reason' in first) return withoutNumber('invalid', first.reason, details);
  const checks = [reading.alone(found), missesBeyond(calibration), everyNeighbourRan(first.blocks)];
  return {
    ...invalidBy(checks),
    value: headline[reading.name] as number,
    ...windowInterval(headline.ci95 as Measured['ci95']),
    ciScope: 'within-process',
    processes: first.neighbours + 1,
    headline: null,
    details,
    checks,
  };
}

/** Fewer kinds and numbers of neighbours at tier `quick`. */
export const rowsOf = (tier: Tier): readonly RowPlan[] =>
  tier === 'quick'
    ? [{ neighbours: 1, kind: 'stream' }]
    : [
        { neighbours: 1, kind: 'stream' },
        { neighbours: 1, kind: 'chase' },
        { neighbours: 3, kind: 'stream' },
        { neighbours: 3, kind: 'chase' },
      ];

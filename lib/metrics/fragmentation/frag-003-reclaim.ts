/** FRAG-003: whether all memory is available again after many allocations and frees, and after a tenant was killed. */
import { setTimeout } from 'node:timers/promises';
import * as v from 'valibot';
import type { MemoryChurn, MemoryFill, MemoryFillRequest, MemoryPath } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { askSession } from '../../workers/session-task.js';
import { spareOf } from '../isolation/shared/leftovers.js';
import { firstBlock } from '../isolation/shared/memory-tenant.js';
import { choice, count, described, quantity, rows, text } from '../core/details.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, withoutNumber } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { withCardAsFound } from '../core/returned-memory.js';
import { isOutOfMemory, rowState } from '../core/row-state.js';
import { FIRST_ID, inScene, type MetricScene } from '../tenants/scene.js';
import { GIB, MIB } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { type ChurnRoom, churnOf, churnRoom, ChurnTenant, type NoRoom, SEEDS } from './churn.js';

/** The ways to allocate memory that current programs mix. */
const PATHS = [
  'cuMemAlloc_v2',
  'cuMemAllocAsync',
  'cuMemCreate',
  'cuMemAllocManaged',
] as const satisfies readonly MemoryPath[];
const HEADLINE: MemoryPath = 'cuMemAlloc_v2';
/** Allocations and frees on all paths together. */
const OPERATIONS = { quick: 4_000, standard: 10_000, thorough: 100_000 } as const;
const PER = 100_000;
/** Filled at most by all paths together before the turnover: the calls are what is counted, not the memory. */
const MOST_FILLED = 32 * GIB;
const DEADLINE_MS = 120_000;
/** How long a successor waits for the quota of a tenant that was killed. */
const RETURNS_MS = { quick: 3_000, standard: 5_000, thorough: 20_000 } as const;
const LOOK_EVERY_MS = 100;
/**
 * Fraction of the first fill that counts as all of it: blocks are whole granules, and drivers keep some memory for
 * loaded code.
 */
const WHOLE = 0.995;
const GRANULE = 2 * MIB;
/** A fill continues up to this multiple of the limit, to see whether the limit stops it. */
const BEYOND = 1.1;

const ofFirst = (about: string) => quantity('%', `${about}, of the first fill`);

const details = v.strictObject({
  ...churnRoom.entries,
  initialBytes: count('Memory that the first fill got (bytes)'),
  afterChurnPercent: ofFirst('What the same process could fill again after everything was freed'),
  outsidePercent: v.nullable(ofFirst('What NVML then showed as released; null if no process checks from outside')),
  afterKillPercent: ofFirst('What the successor of a killed tenant could fill'),
  operations: count('Allocations and frees on all paths'),
  driftBytesPer100k: v.nullable(
    quantity(
      'bytes',
      'Free memory that was lost in the accounting, beyond what NVML shows as held, per 100 000 calls; null if unknown',
    ),
  ),
  paths: rows(
    v.strictObject({
      path: choice(PATHS, 'The call that allocates'),
      operations: count('Allocations and frees'),
      reason: v.optional(text('Why they were fewer than planned')),
    }),
    'A row per call',
  ),
  killed: described(
    v.strictObject({
      killedBytes: count('Memory that the tenant held when it was killed (bytes)'),
      grantedBytes: count('Largest fill of its successor (bytes)'),
      returnedMs: v.nullable(quantity('ms', 'Time until a whole fill succeeded; null if none did')),
      waitedMs: quantity('ms', 'Time until the last fill'),
    }),
    'A tenant that was killed, and its successor',
  ),
});

export type MemoryCompactionDetails = v.InferOutput<typeof details>;

interface Churned {
  path: (typeof PATHS)[number];
  churn: MemoryChurn | null;
  reason: string | null;
}

interface Reclaimed {
  room: ChurnRoom;
  /** The fills before anything else and after everything was freed. */
  before: MemoryFill;
  after: MemoryFill;
  /**
   * Before and after the churn: free memory as reported to the tenant, and memory that it holds by the coordinator's
   * NVML.
   */
  told: [before: number | null, after: number | null];
  held: [before: number | null, after: number | null];
  paths: Churned[];
}

type Succession = MemoryCompactionDetails['killed'];

/** Allocates until it is refused, then frees everything. */
async function filled({ truth }: MeasureContext, tenant: ChurnTenant, { limitBytes }: ChurnRoom): Promise<MemoryFill> {
  const card = (await truth?.cardMemory())?.freeBytes ?? null;
  const free = card ?? (await tenant.visible()).freeBytes ?? limitBytes;
  const request: MemoryFillRequest = {
    path: HEADLINE,
    mostBytes: Math.ceil(BEYOND * limitBytes),
    firstBytes: firstBlock(limitBytes),
    smallestBytes: GRANULE,
    mostBlocks: 4096,
    spareBytes: Math.floor(spareOf(free)),
  };
  try {
    return await askSession(tenant.worker, { name: 'fillMemory', request, deadlineMs: DEADLINE_MS });
  } finally {
    await tenant.release();
  }
}

async function churnAll(
  { options, progress }: MeasureContext,
  tenant: ChurnTenant,
  room: ChurnRoom,
): Promise<Churned[]> {
  const turnover = Math.ceil(OPERATIONS[options.tier] / PATHS.length);
  const churned: Churned[] = [];
  for (const [index, path] of PATHS.entries()) {
    progress(`${turnover} calls by ${path}`, 0.2 + (0.4 * index) / PATHS.length);
    try {
      const churn = await tenant.churn(path, {
        fillBytes: Math.floor(Math.min(churnOf(room).fillBytes, MOST_FILLED) / PATHS.length),
        turnover,
        keepBytes: 0,
        seed: SEEDS[index] as number,
      });
      const failed = churn.refusals[0];
      const reason = churn.noMemory ?? (failed ? `${failed.call} returned ${failed.name}` : null);
      churned.push({ path, churn, reason });
    } catch (error) {
      const state = rowState(error);
      if (!state) throw error;
      churned.push({ path, churn: null, reason: Object.values(state)[0] as string });
    } finally {
      await tenant.release();
    }
  }
  return churned;
}

/** In one process: fills, churns on every path, frees everything, and fills again. */
async function reclaim(context: MeasureContext, tenant: ChurnTenant): Promise<Reclaimed | NoRoom> {
  const room = await tenant.room();
  if (!('roomBytes' in room)) return room;
  context.progress('first fill', 0);
  const before = await filled(context, tenant, room);
  const look = async () => [(await tenant.visible()).freeBytes, await tenant.held()] as const;
  const [toldBefore, heldBefore] = await look();
  const paths = await churnAll(context, tenant, room);
  const [toldAfter, heldAfter] = await look();
  context.progress('second fill', 0.6);
  const after = await filled(context, tenant, room);
  return { room, before, after, told: [toldBefore, toldAfter], held: [heldBefore, heldAfter], paths };
}

/** Starts another process of the same tenant. If its context does not fit, stops it and throws. */
async function successorIn(context: MeasureContext, scene: MetricScene): Promise<ChurnTenant> {
  const worker = await scene.startWorker({ id: FIRST_ID });
  try {
    await scene.hold(worker, context.options.device);
    return new ChurnTenant(context, worker);
  } catch (error) {
    scene.excuse(worker);
    await worker.stop();
    throw error;
  }
}

/**
 * Kills a tenant and repeatedly fills memory in a successor with the same state, until it gets everything or time is
 * up.
 */
async function succeed(
  context: MeasureContext,
  scene: MetricScene,
  room: ChurnRoom,
  whole: number,
): Promise<Succession> {
  const killed = new ChurnTenant(context, await scene.enter({ id: FIRST_ID }));
  const peak = await killed.churn(HEADLINE, { ...churnOf(room), seed: SEEDS[0] });
  await scene.prove(killed.worker);
  killed.worker.signal('SIGKILL');
  await killed.worker.exit;
  const killedAt = performance.now();
  const waited = () => performance.now() - killedAt;
  const succession: Succession = { killedBytes: peak.heldBytes, grantedBytes: 0, returnedMs: null, waitedMs: 0 };
  const most = RETURNS_MS[context.options.tier];
  let successor: ChurnTenant | null = null;
  do {
    context.progress('successor of a killed tenant', 0.8);
    try {
      successor ??= await successorIn(context, scene);
      const { grantedBytes } = await filled(context, successor, room);
      succession.grantedBytes = Math.max(succession.grantedBytes, grantedBytes);
    } catch (error) {
      // The context itself does not fit yet.
      if (!isOutOfMemory(error)) throw error;
    }
    succession.waitedMs = waited();
    if (succession.grantedBytes >= WHOLE * whole) return { ...succession, returnedMs: succession.waitedMs };
    await setTimeout(LOOK_EVERY_MS, undefined, { signal: context.signal });
  } while (waited() < most);
  return succession;
}

const difference = ([before, after]: readonly [number | null, number | null]): number | null =>
  before === null || after === null ? null : after - before;

/**
 * Per 100 000 calls: free memory lost in the tenant's accounting, minus what NVML shows as held in addition; null if
 * unknown.
 */
export function driftPer(told: number | null, held: number | null, operations: number): number | null {
  if (told === null || held === null || operations === 0) return null;
  // Less free memory means more in use.
  return ((0 - told - held) * PER) / operations;
}

function returnedOutside(held: Reclaimed['held'], whole: number): Check {
  const name = 'NVML shows that the memory was released';
  const more = difference(held);
  if (more === null) return { name, passed: 'not checked', detail: 'no process checks the card from outside' };
  const detail = `${formatBytes(Math.abs(more))} ${more < 0 ? 'less' : 'more'} held after the churn than before`;
  return { name, passed: Math.abs(more) <= (1 - WHOLE) * whole, detail };
}

function memoryCheck({ before, after, paths }: Reclaimed): Check {
  const found = [before.noMemory, after.noMemory, ...paths.map(({ churn }) => churn?.noMemory ?? null)].filter(
    (why) => why !== null,
  );
  return {
    name: 'granted memory is real memory',
    passed: found.length === 0,
    detail: found.join('; ') || 'every block held what was written to it',
  };
}

const percentOf = (bytes: number, whole: number): number => (100 * bytes) / whole;

function judge(reclaimed: Reclaimed, succession: Succession, asFound: Check): Measured<MemoryCompactionDetails> {
  const { room, before, after, told, held, paths } = reclaimed;
  const whole = before.grantedBytes;
  if (whole === 0) return withoutNumber('invalid', 'the first fill got no memory', { ...room });
  const operations = paths.reduce((sum, { churn }) => sum + (churn?.operations ?? 0), 0);
  const outside = returnedOutside(held, whole);
  const heldMore = difference(held);
  const memory = memoryCheck(reclaimed);
  const shares = {
    afterChurnPercent: percentOf(after.grantedBytes, whole),
    outsidePercent: heldMore === null ? null : percentOf(whole - heldMore, whole),
    afterKillPercent: percentOf(succession.grantedBytes, whole),
  };
  const known = Object.values(shares).filter((share) => share !== null);
  return {
    ...invalidBy([memory]),
    value: Math.min(...known),
    ci95: null,
    processes: 3,
    headline: Float64Array.from(known),
    details: {
      ...room,
      initialBytes: whole,
      ...shares,
      operations,
      driftBytesPer100k: driftPer(difference(told), heldMore, operations),
      paths: paths.map(({ path, churn, reason }) => ({
        path,
        operations: churn?.operations ?? 0,
        ...(reason !== null && { reason }),
      })),
      killed: succession,
    },
    checks: [memory, outside, asFound],
  };
}

async function measured(context: MeasureContext, scene: MetricScene) {
  const tenant = new ChurnTenant(context, await scene.enter({ id: FIRST_ID }));
  const reclaimed = await reclaim(context, tenant);
  if (!('before' in reclaimed)) return reclaimed;
  await scene.prove(tenant.worker);
  await tenant.worker.stop();
  return { reclaimed, succession: await succeed(context, scene, reclaimed.room, reclaimed.before.grantedBytes) };
}

export const reclaimIntegrity: MetricDefinition<MemoryCompactionDetails> = {
  id: 'FRAG-003',
  name: 'Memory Compaction Efficiency',
  category: 'fragmentation',
  unit: '%',
  direction: 'higher',
  question: 'Is memory lost through accounting errors or killed tenants?',
  estimator:
    '100 × the smallest of three amounts, relative to the first fill: what can be filled again after random allocations and frees on all paths, what NVML then shows as free, and what the successor of a killed tenant can fill',
  delta: { absolute: 1 },
  values: { grid: 0.1 },
  impossible: ({ value }) =>
    value !== null && (value < 0 || value > 110) ? `${value} % of what there was at first` : null,
  needs: ['1 GiB of memory', 'fresh processes'],
  functionName: 'measureMemoryCompaction',
  where: 'fresh-processes',
  details,
  seconds: { quick: 4, standard: 6, thorough: 40 },
  async measure(context) {
    const { used, asFound } = await withCardAsFound(context, () =>
      inScene(context, (scene) => measured(context, scene)),
    );
    return 'reclaimed' in used ? judge(used.reclaimed, used.succession, asFound) : used;
  },
};

/**
 * FRAG-003, %: how much of the memory that a tenant could fill at first it can fill again after random allocations and
 * frees on four paths, or its successor after it was killed; the smaller one is the value. `details.driftBytesPer100k`
 * is the drift of the layer's accounting from NVML's, `details.killed.returnedMs` the time until a killed tenant's
 * memory was available again. `iterations` and `seed` do not apply.
 */
export const measureMemoryCompaction = measureFunction(reclaimIntegrity);

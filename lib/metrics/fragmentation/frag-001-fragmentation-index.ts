/** FRAG-001: how much of the free memory is one block after random allocations and frees. */
import * as v from 'valibot';
import type { LargestBlock, MemoryChurn, MemoryPath } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { serialMedian } from '../../stats/serial.js';
import { askSession } from '../../workers/session-task.js';
import { spareOf } from '../isolation/shared/leftovers.js';
import { AGREEMENT, KEPT_BYTES } from '../isolation/shared/memory-paths.js';
import { choice, count, quantity, rowOrReason, rows, text } from '../core/details.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { type MemorySpan, returnedCheck, withCardAsFound } from '../core/returned-memory.js';
import { type RowState, rowState } from '../core/row-state.js';
import { FIRST_ID, inScene } from '../tenants/scene.js';
import { GIB, MIB } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { type ChurnRoom, churnOf, churnRoom, ChurnTenant, type NoRoom, SEEDS, spoilt } from './churn.js';

const GRANULE = 2 * MIB;
const PROBES = 48;
const SEARCH_DEADLINE_MS = 20_000;
const HEADLINE = 'cuMemAlloc_v2' as const;
const OTHERS = ['cuMemAllocAsync', 'cuMemCreate'] as const satisfies readonly MemoryPath[];
const SEED_COUNT = { quick: 1, standard: 1, thorough: SEEDS.length } as const;
/** Numbers of further allocations and frees before memory is freed, for the headline's path and the first seed. */
const TURNOVER = { quick: [], standard: [4_000], thorough: [4_000, 16_000, 64_000] } as const;
/** A request may be granted this multiple of the reported free memory, because blocks share granules. */
const BEYOND = 1.02;

const details = v.strictObject({
  ...churnRoom.entries,
  rows: rows(
    rowOrReason(
      {
        path: choice([HEADLINE, ...OTHERS], 'The call that allocates'),
        seed: count('Seed of the sizes and of their order'),
        turnover: count('Further allocations and frees before memory is freed'),
      },
      {
        operations: count('Allocations and frees'),
        heldBytes: count('Memory that is then held (bytes)'),
        blocks: count('Blocks that are then held'),
        freeBytes: count('Free memory in which the largest block was searched (bytes)'),
        largestBytes: count('Largest block that was granted (bytes)'),
        largestGib: quantity('GiB', 'The same'),
        indexPercent: v.nullable(
          quantity('%', 'Share of the free memory that a single block cannot get; null without free memory'),
        ),
        probes: count('Requests until the largest block was known'),
        failed: v.optional(text('Why the row is not valid, or the error that ended it')),
      },
    ),
    'A row per call, seed and turnover',
  ),
});

export type FragmentationDetails = v.InferOutput<typeof details>;

interface Plan {
  path: typeof HEADLINE | (typeof OTHERS)[number];
  seed: number;
  turnover: number;
}

interface Found {
  churn: MemoryChurn;
  largest: LargestBlock;
  /**
   * Free memory in which the largest block was searched: what the tenant is told, without what must stay free on the
   * card.
   */
  freeBytes: number;
  /** How much the free memory shrank, as reported to the tenant; null if it is not reported. */
  shrunkBytes: number | null;
  /** How much the tenant's memory grew by NVML, seen from outside; null if unknown. */
  heldBytes: number | null;
}

/** `fault`: why what was found is not valid. */
type Row = Plan & ({ found: Found; fault: string | null } | { found: null; state: RowState });

const plansOf = (tier: MeasureContext['options']['tier']): Plan[] => {
  const seeds = SEEDS.slice(0, SEED_COUNT[tier]);
  const first = SEEDS[0];
  return [
    ...seeds.map((seed) => ({ path: HEADLINE, seed, turnover: 0 })),
    ...TURNOVER[tier].map((turnover) => ({ path: HEADLINE, seed: first, turnover })),
    ...(tier === 'quick' ? [] : OTHERS.map((path) => ({ path, seed: first, turnover: 0 }))),
  ];
};

const isHeadline = ({ path, turnover }: Plan): boolean => path === HEADLINE && turnover === 0;

async function find(context: MeasureContext, tenant: ChurnTenant, room: ChurnRoom, plan: Plan): Promise<Found> {
  const [before, heldBefore] = [await tenant.visible(), await tenant.held()];
  const churn = await tenant.churn(plan.path, { ...churnOf(room), ...plan });
  const [told, held] = [await tenant.visible(), await tenant.held()];
  const card = (await context.truth?.cardMemory())?.freeBytes ?? null;
  const toldFree = told.freeBytes ?? 0;
  const freeBytes = Math.floor(Math.min(toldFree, card === null ? toldFree : card - spareOf(card)));
  const beyondBytes = freeBytes < toldFree ? 0 : Math.ceil(BEYOND * toldFree) + 2 * GRANULE;
  const largest = await askSession(tenant.worker, {
    name: 'largestBlock',
    request: {
      path: plan.path,
      freeBytes,
      beyondBytes,
      granuleBytes: GRANULE,
      mostProbes: PROBES,
      mostNs: SEARCH_DEADLINE_MS * 1e6,
    },
    deadlineMs: 2 * SEARCH_DEADLINE_MS,
  });
  return {
    churn,
    largest,
    freeBytes,
    shrunkBytes: before.freeBytes === null || told.freeBytes === null ? null : before.freeBytes - told.freeBytes,
    heldBytes: heldBefore === null || held === null ? null : held - heldBefore,
  };
}

/** Why the result is not valid; null if it is. */
function faultOf({ churn, largest, freeBytes }: Found, { turnover }: Plan): string | null {
  // With turnover, fragmentation itself may cause a refusal.
  const bad = turnover === 0 ? spoilt(churn) : churn.noMemory;
  if (bad !== null) return bad;
  if (largest.beyond)
    return `more than ${formatBytes(freeBytes)} was granted at once, although no more is reported as free`;
  if (largest.noMemory !== null) return largest.noMemory;
  if (largest.bytes > 0 && !largest.again)
    return `a block of ${formatBytes(largest.bytes)} was granted once and then refused`;
  return largest.decided ? null : `after ${largest.probes} attempts the largest block was not known to a granule`;
}

/** 100 × (1 − largest block / free). */
export const indexOf = (largestBytes: number, freeBytes: number): number =>
  freeBytes === 0 ? Number.NaN : 100 * (1 - largestBytes / freeBytes);

function described(row: Row): FragmentationDetails['rows'][number] {
  const { path, seed, turnover } = row;
  if (!row.found) return { path, seed, turnover, ...row.state };
  const { churn, largest, freeBytes } = row.found;
  return {
    path,
    seed,
    turnover,
    operations: churn.operations,
    heldBytes: churn.heldBytes,
    blocks: churn.blocks,
    freeBytes,
    largestBytes: largest.bytes,
    largestGib: largest.bytes / GIB,
    indexPercent: freeBytes === 0 ? null : indexOf(largest.bytes, freeBytes),
    probes: largest.probes,
    ...(row.fault !== null && { failed: row.fault }),
  };
}

/** Bytes that the reported free memory shrank by, that NVML shows more in use, and the blocks that are held. */
interface Accounts {
  path: string;
  told: number;
  held: number;
  blocks: number;
}

const accountsOf = ({ path, found }: Row): Accounts[] =>
  found?.shrunkBytes == null || found.heldBytes === null
    ? []
    : [{ path, told: found.shrunkBytes, held: found.heldBytes, blocks: found.churn.blocks }];

/** The card hands out granules: where a system counts what is requested, NVML shows at most one more for each block. */
function agree({ told, held, blocks }: Accounts, limitBytes: number): boolean {
  const slack = AGREEMENT * limitBytes + KEPT_BYTES;
  return held >= told - slack && held <= told + slack + blocks * GRANULE;
}

/** If the reported free memory does not match what is held, the index says nothing about fragmentation. */
export function agreementCheck(compared: readonly Accounts[], limitBytes: number): Check {
  const name = 'NVML agrees with the reported free memory';
  if (compared.length === 0) return { name, passed: 'not checked', detail: 'no process checks the card from outside' };
  const off = compared.find((each) => !agree(each, limitBytes));
  const { path, told, held } = off ?? (compared[0] as Accounts);
  return {
    name,
    passed: off === undefined,
    detail: `${path}: ${formatBytes(told)} less than before the allocations, NVML shows ${formatBytes(held)} more in use`,
  };
}

interface Fragmented {
  room: ChurnRoom;
  found: Row[];
  spans: MemorySpan[];
}

async function fragment(context: MeasureContext, tenant: ChurnTenant): Promise<Fragmented | NoRoom> {
  const room = await tenant.room();
  if (!('roomBytes' in room)) return room;
  const plans = plansOf(context.options.tier);
  const found: Row[] = [];
  const spans: MemorySpan[] = [];
  for (const [index, plan] of plans.entries()) {
    context.progress(`${plan.path}, seed ${plan.seed}`, index / plans.length);
    try {
      const { used, span } = await tenant.returning(() => find(context, tenant, room, plan));
      spans.push(span);
      found.push({ ...plan, found: used, fault: faultOf(used, plan) });
    } catch (error) {
      const state = rowState(error);
      if (!state || isHeadline(plan)) throw error;
      found.push({ ...plan, found: null, state });
    }
  }
  return { room, found, spans };
}

function judge({ room, found, spans }: Fragmented, asFound: Check): Measured<FragmentationDetails> {
  const headline = found.filter(isHeadline);
  const own = { ...room, rows: found.map(described) };
  const agrees = agreementCheck(found.filter(({ path }) => path === HEADLINE).flatMap(accountsOf), room.limitBytes);
  const returned = returnedCheck(spans);
  const checks = [agrees, returned, asFound];
  const [fault] = headline.flatMap((row) => (row.found ? (row.fault ?? []) : []));
  if (fault !== undefined)
    return { status: 'invalid', reason: fault, value: null, ci95: null, headline: null, details: own, checks };
  const values = headline.flatMap((row) => (row.found ? indexOf(row.found.largest.bytes, row.found.freeBytes) : []));
  const { value, ci95 } = serialMedian(values);
  return { ...invalidBy([agrees, returned]), value, ci95, headline: Float64Array.from(values), details: own, checks };
}

export const fragmentationIndex: MetricDefinition<FragmentationDetails> = {
  id: 'FRAG-001',
  name: 'Fragmentation Index',
  category: 'fragmentation',
  unit: '%',
  direction: 'lower',
  question: 'Does a tensor of 2 GB still fit into 2 GB of free memory after a day of allocations and frees?',
  estimator:
    '100 × (1 − largest block / free memory) by cuMemAlloc, after a fill of 90 % of which a random half was freed',
  delta: { absolute: 2 },
  values: { grid: 0.1 },
  impossible: ({ value }) => (value !== null && value > 100 ? `an index of ${value} %` : null),
  needs: ['1 GiB of memory', 'fresh processes'],
  functionName: 'measureFragmentation',
  where: 'fresh-processes',
  lineCharts: [
    {
      title: 'Largest block against churn',
      axes: { x: 'allocations and frees', y: 'largest block, GiB' },
      scales: { x: 'log' },
      rows: 'rows',
      point: { x: 'operations', y: 'largestGib' },
      where: { path: HEADLINE },
      by: 'turnover',
    },
  ],
  details,
  seconds: { quick: 4, standard: 10, thorough: 60 },
  async measure(context) {
    const { used, asFound } = await withCardAsFound(context, () =>
      inScene(context, async (scene) =>
        fragment(context, new ChurnTenant(context, await scene.enter({ id: FIRST_ID }))),
      ),
    );
    return 'room' in used ? judge(used, asFound) : used;
  },
};

/**
 * FRAG-001, %, signed: the share of the free memory that a single cuMemAlloc cannot get, after 90 % of the memory was
 * filled with blocks of 64 KiB to 64 MiB and a random half of them was freed. `details.rows[]` has other allocation
 * paths, and more churn. The sizes follow from published seeds; `seed` and `iterations` do not apply.
 */
export const measureFragmentation = measureFunction(fragmentationIndex);

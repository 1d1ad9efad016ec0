/** LLM-007: how long allocations of the size of a model's tensors take, each checked from outside while it is held. */
import * as v from 'valibot';
import type { AllocationApi, LargeAllocation } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { shuffled } from '../../stats/random.js';
import { serialMedian } from '../../stats/serial.js';
import { askSession, type SentAnswerOf } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { bulkCheck, invalidIfHidden, pastLayer } from '../served/bulk.js';
import { choice, count, interval, quantity, rowOrReason, rows } from '../core/details.js';
import { invalidBy, type MeasureContext, type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { heldOutside } from '../core/returned-memory.js';
import { type RowState, rowState } from '../core/row-state.js';
import { servedAllocations, singly } from '../served/served-blocks.js';
import { FIRST_ID, inScene } from '../tenants/scene.js';
import { GIB, NS_PER_MS } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';

const SIZES = [GIB, 2 * GIB, 4 * GIB, 8 * GIB];
const APIS = ['cuMemAlloc', 'cuMemCreate'] as const satisfies readonly AllocationApi[];
const HEADLINE = 'cuMemAlloc';
/** Samples per row. With fewer than ten effective ones there is no interval. */
const COUNT = { quick: 6, standard: 6, thorough: 10 } as const;
/** Samples of a row past the layer, before the rounds and after them. */
const BARE = 3;
const LEAST_LIMIT = 1.25 * GIB;
/** Largest share of the limit that a block may take. */
const SHARE = 0.8;
/** Memory of the card that no measurement takes. */
const SPARE_BYTES = GIB;
/** How much less NVML may show, relative to the size. */
const TOLERANCE = 0.01;
const DEADLINE_MS = 60_000;

const details = v.strictObject({
  limitBytes: count('Least of what the process was granted, what it is told, and what the card has (bytes)'),
  mostBytes: quantity('bytes', 'The largest block that it may take'),
  largestBytes: count('Size of the block behind the value (bytes)'),
  rows: rows(
    rowOrReason(
      { api: choice(APIS, 'The call that allocates'), bytes: count('Size of a block (bytes)') },
      {
        allocMs: quantity('ms', 'Median time of the allocation'),
        ci95: interval('ms', 'allocMs'),
        msPerGib: quantity('ms/GiB', 'The same per GiB'),
        touchMs: quantity('ms', 'Median time of writing all of the block for the first time'),
        freeMs: quantity('ms', 'Median time of the free'),
        count: count('Allocations: the samples'),
        backedBytes: v.nullable(
          quantity('bytes', 'Least growth that NVML showed while a block was held; null if it does not report it'),
        ),
      },
    ),
    'A row per call and size',
  ),
});

export type LargeTensorAllocationDetails = v.InferOutput<typeof details>;

interface Plan {
  api: (typeof APIS)[number];
  bytes: number;
}

interface Sample {
  allocNs: number;
  createNs: number | null;
  touchNs: number;
  freeNs: number;
  /** The growth that NVML shows while the block is held; null if it does not report it. */
  grownBytes: number | null;
}

interface Row extends Plan {
  samples: Sample[];
  /** The same past the layer; null where the driver's own functions cannot be called. */
  bare: SentAnswerOf<'allocationBlock'>[];
  state: RowState | null;
}

interface Room {
  limitBytes: number;
  mostBytes: number;
}

/** The least of what the process was granted, what it is told, and what the card has. */
async function roomOf({ system }: MeasureContext, tenant: WorkerTenant): Promise<Room | string> {
  const visible = await askSession(tenant, { name: 'visibleMemory', request: undefined, deadlineMs: DEADLINE_MS });
  const card = await askSession(tenant, { name: 'health', request: undefined, deadlineMs: DEADLINE_MS });
  const totals = [system.limits().memoryBytes, visible.totalBytes, card.totalBytes].filter((bytes) => bytes !== null);
  const free = [visible.freeBytes, card.freeBytes && card.freeBytes - SPARE_BYTES].filter((bytes) => bytes !== null);
  if (totals.length === 0 || free.length === 0) return 'neither cuMemGetInfo nor NVML says how much memory there is';
  const limitBytes = Math.min(...totals);
  return { limitBytes, mostBytes: Math.max(0, Math.min(SHARE * limitBytes, ...free)) };
}

async function sampleOf(context: MeasureContext, tenant: WorkerTenant, plan: Plan, seed: number): Promise<Sample> {
  const before = await heldOutside(context, tenant);
  const { allocNs, createNs, touchNs }: LargeAllocation = await askSession(tenant, {
    name: 'allocateLarge',
    request: { ...plan, seed },
    deadlineMs: DEADLINE_MS,
  });
  const held = await heldOutside(context, tenant);
  const { freeNs } = await askSession(tenant, { name: 'freeLarge', request: undefined, deadlineMs: DEADLINE_MS });
  return { allocNs, createNs, touchNs, freeNs, grownBytes: before === null || held === null ? null : held - before };
}

const allocatedBare = (tenant: WorkerTenant, { api, bytes }: Plan) =>
  askSession(tenant, {
    name: 'allocationBlock',
    request: { api, bytes, live: 0, count: BARE, warmup: 1, bare: true },
    deadlineMs: DEADLINE_MS,
  });

/** Sizes in random order, reshuffled each round. A size that fails once is not tried again. */
async function measureRows(context: MeasureContext, tenant: WorkerTenant, sizes: readonly number[]): Promise<Row[]> {
  const { tier, iterations, seed } = context.options;
  const rounds = iterations ?? COUNT[tier];
  const rows = APIS.flatMap((api) => sizes.map((bytes): Row => ({ api, bytes, samples: [], bare: [], state: null })));
  const largest = Math.max(...sizes);
  // A process's first block sets up what stays.
  await sampleOf(context, tenant, { api: HEADLINE, bytes: sizes[0] as number }, seed);
  await measureBare(tenant, shuffled(rows, seed));
  for (let round = 0; round < rounds; round++)
    for (const row of shuffled(rows, seed + round)) {
      if (row.state) continue;
      const { api, bytes } = row;
      context.progress(`${api} ${formatBytes(bytes)}`, round / rounds);
      try {
        row.samples.push(await sampleOf(context, tenant, { api, bytes }, seed + round));
      } catch (error) {
        const state = rowState(error);
        if (!state || (api === HEADLINE && bytes === largest)) throw error;
        row.state = state;
      }
    }
  await measureBare(
    tenant,
    rows.filter(({ state }) => !state),
  );
  return rows;
}

/** Called before the rounds and after them: the driver keeps memory of earlier blocks, so that the first ones can all be slow. */
async function measureBare(tenant: WorkerTenant, rows: readonly Row[]): Promise<void> {
  for (const row of rows) {
    const block = await pastLayer(() => allocatedBare(tenant, row));
    if (block) row.bare.push(block);
  }
}

const msPerGib = (ns: number, bytes: number): number => ns / NS_PER_MS / (bytes / GIB);

function described({ api, bytes, samples, state }: Row): LargeTensorAllocationDetails['rows'][number] {
  if (state) return { api, bytes, ...state };
  const ms = (of: (sample: Sample) => number) => serialMedian(samples.map((sample) => of(sample) / NS_PER_MS));
  const alloc = ms(({ allocNs }) => allocNs);
  return {
    api,
    bytes,
    allocMs: alloc.value,
    ci95: alloc.ci95,
    msPerGib: alloc.value / (bytes / GIB),
    touchMs: ms(({ touchNs }) => touchNs).value,
    freeMs: ms(({ freeNs }) => freeNs).value,
    count: samples.length,
    backedBytes: leastGrown(samples),
  };
}

function leastGrown(samples: readonly Sample[]): number | null {
  const grown = samples.flatMap(({ grownBytes }) => grownBytes ?? []);
  return grown.length === 0 ? null : Math.min(...grown);
}

/** A layer that reports success but returns host memory, or none, is fast. */
function backedCheck(rows: readonly Row[]): Check {
  const name = 'NVML shows the memory of every size';
  const seen = rows.flatMap(({ api, bytes, samples }) => {
    const grown = leastGrown(samples);
    return grown === null ? [] : [{ api, bytes, grown }];
  });
  if (seen.length === 0)
    return { name, passed: 'not checked', detail: 'the coordinator cannot see the memory of the process' };
  const missing = seen.filter(({ bytes, grown }) => grown < (1 - TOLERANCE) * bytes);
  const told = missing.map(
    ({ api, bytes, grown }) => `${api} of ${formatBytes(bytes)}: NVML shows ${formatBytes(grown)}`,
  );
  return { name, passed: missing.length === 0, detail: told.join('; ') || `of ${seen.length} rows, in every sample` };
}

const servedCheck = (rows: readonly Row[]): Check =>
  bulkCheck(
    rows.flatMap(({ api, bytes, samples, bare }) => {
      const blocks = [
        { allocNs: samples.map(({ allocNs }) => allocNs), createNs: samples.flatMap(({ createNs }) => createNs ?? []) },
      ];
      return servedAllocations({
        call: `${api} of ${formatBytes(bytes)}`,
        blocks,
        bare: bare.flatMap(singly),
      });
    }),
  );

export const largeAllocation: MetricDefinition<LargeTensorAllocationDetails> = {
  id: 'LLM-007',
  name: 'Large Tensor Allocation',
  category: 'llm',
  unit: 'ms',
  direction: 'lower',
  question: 'How long does a model load stall on allocations?',
  estimator: 'median of cuMemAlloc of the largest of 1, 2, 4 and 8 GiB that fits, per GiB',
  delta: { relative: 0.1 },
  comparedAt: { name: 'size', of: ({ largestBytes }) => largestBytes },
  needs: ['1.25 GiB', 'fresh processes'],
  functionName: 'measureLargeTensorAllocation',
  where: 'fresh-processes',
  details,
  seconds: { quick: 3, standard: 3, thorough: 6 },
  measure: (context) =>
    inScene(context, async (scene) => {
      const tenant = await scene.enter({ id: FIRST_ID });
      const room = await roomOf(context, tenant);
      if (typeof room === 'string') return unsupported(room);
      if (room.limitBytes < LEAST_LIMIT)
        return unsupported(`${formatBytes(room.limitBytes)} is less than ${formatBytes(LEAST_LIMIT)}`, { ...room });
      const sizes = SIZES.filter((bytes) => bytes <= room.mostBytes);
      const largestBytes = sizes.at(-1);
      if (largestBytes === undefined)
        return unsupported(`no more than ${formatBytes(room.mostBytes)} may be taken here`, { ...room });
      const rows = await measureRows(context, tenant, sizes);
      const headline = rows.find(({ api, bytes }) => api === HEADLINE && bytes === largestBytes) as Row;
      const perGib = Float64Array.from(headline.samples, ({ allocNs }) => msPerGib(allocNs, largestBytes));
      const { value, ci95 } = serialMedian(perGib);
      const [backed, served] = [backedCheck(rows), servedCheck(rows)];
      return {
        ...invalidBy([backed]),
        ...invalidIfHidden([served]),
        value,
        ci95,
        headline: perGib,
        details: { ...room, largestBytes, rows: rows.map(described) },
        checks: [backed, served],
      };
    }),
};

/**
 * LLM-007, ms a GiB: median time of cuMemAlloc of the largest of 1, 2, 4 and 8 GiB that fits; `details.rows[]` has
 * every size, also by virtual memory, with the first touch and the free. Only a comparison checks from outside whether
 * the card really holds what was granted.
 */
export const measureLargeTensorAllocation = measureFunction(largeAllocation);

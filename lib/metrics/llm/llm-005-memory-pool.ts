/** LLM-005: the cost of an allocation and its free from a warm stream-ordered pool, relative to native. */
import * as v from 'valibot';
import type { AllocationApi, PoolPairs, PoolRefusal } from '../../native/addon-types.js';
import { OUT_OF_MEMORY } from '../../native/errors.js';
import type { Session } from '../../native/session.js';
import type { Check } from '../../results/document.js';
import { median, type MedianEstimate } from '../../stats/median.js';
import { shuffled } from '../../stats/random.js';
import { summarise } from '../../stats/summary.js';
import { bulkCheck, grownCheck, invalidIfHidden, pastLayer, servedBy } from '../served/bulk.js';
import { collect, concat } from '../core/collect.js';
import { choice, count, described, interval, quantity, rowOrReason, rows, text } from '../core/details.js';
import { invalidBy, type MeasureContext, type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { memoryRoom } from '../overhead/memory-sizes.js';
import { type RowState, rowState } from '../core/row-state.js';
import { MIB, NS_PER_US, scaled } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';

const KIB = 1024;
const SIZES = [64 * KIB, MIB, 16 * MIB];
const DIRECT = 'cuMemAlloc';
const POOLED = 'cuMemAllocAsync';
const NAMED = 'cuMemAllocFromPoolAsync';
/** Those from a pool first. */
const APIS = [POOLED, NAMED, DIRECT] as const satisfies readonly AllocationApi[];
type Api = (typeof APIS)[number];
const HEADLINE = { api: POOLED, bytes: MIB };
const WARM_BYTES = 64 * MIB;
const WARMUP = 20;
/** Pairs per row; a direct pair takes a hundred times as long. */
const CAP = { quick: 1_000, standard: 1_000, thorough: 2_000 } as const;
const DIRECT_CAP = { quick: 100, standard: 100, thorough: 500 } as const;
/** Samples per block: enough for a p99. */
const BLOCK = 500;
/** Pairs of a row past the layer. */
const BARE = { pooled: 100, direct: 20 } as const;
/** How far the request exceeds the memory that the process is told it has. */
const BEYOND_BYTES = 256 * MIB;

const OUTCOMES = ['refused', 'wrong_error', 'granted'] as const;

const details = v.strictObject({
  limitBytes: count('Memory that the process may use (bytes)'),
  pairUs: quantity(
    'us',
    `Median time of ${HEADLINE.api} and its free of 1 MiB, which a comparison compares with native`,
  ),
  rows: rows(
    rowOrReason(
      { api: choice(APIS, 'The call that allocates'), bytes: count('Size of a block (bytes)') },
      {
        pairUs: quantity('us', 'Median time of an allocation and its free'),
        ci95: interval('us', 'pairUs'),
        allocUs: quantity('us', 'Median time of the allocation'),
        freeUs: quantity('us', 'Median time of the free'),
        pairP99Us: v.nullable(quantity('us', '99th percentile of the pair; null with too few')),
        count: count('Pairs: the samples'),
      },
    ),
    'A row per call and size',
  ),
  speedups: rows(
    v.strictObject({
      bytes: count('Size of a block (bytes)'),
      poolSpeedup: quantity('ratio', `Time of the pair by ${DIRECT}, divided by that by ${POOLED}`),
    }),
    'A row per size that was measured by both',
  ),
  refusals: rows(
    v.strictObject({
      api: choice([POOLED, NAMED], 'The call that allocates'),
      requestedBytes: count('What was requested (bytes)'),
      outcome: choice(OUTCOMES, 'What became of it'),
      code: described(v.number(), 'Code of the driver'),
      name: text('Its name'),
    }),
    'Requests of more memory than the process is told it has',
  ),
});

export type MemoryPoolDetails = v.InferOutput<typeof details>;

interface Plan {
  api: Api;
  bytes: number;
}

interface Row extends Plan {
  pairNs: MedianEstimate;
  blocks: PoolPairs[];
  /** The same past the layer; null where the driver's own functions cannot be called. */
  bare: PoolPairs | null;
}

const isHeadline = ({ api, bytes }: Plan): boolean => api === HEADLINE.api && bytes === HEADLINE.bytes;
const pairsOf = ({ allocNs, freeNs }: PoolPairs): Float64Array => allocNs.map((ns, i) => ns + (freeNs[i] as number));

async function measureRow(context: MeasureContext, session: Session, plan: Plan, done: number): Promise<Row> {
  const { iterations, resolution, tier } = context.options;
  const isDirect = plan.api === DIRECT;
  const request = {
    ...plan,
    warmup: context.options.warmup ?? WARMUP,
    warmBytes: isDirect ? 0 : WARM_BYTES,
  };
  const bareCount = isDirect ? BARE.direct : BARE.pooled;
  const bare = await pastLayer(() => session.block('poolPairs', { ...request, count: bareCount, bare: true }));
  const { blocks, estimate } = await collect(
    { iterations, resolution, blockSize: BLOCK, cap: (isDirect ? DIRECT_CAP : CAP)[tier] },
    (count, fraction) => {
      context.progress(`${plan.api} ${formatBytes(plan.bytes)}`, done + fraction / (APIS.length * SIZES.length));
      return session.block('poolPairs', { ...request, count, bare: false });
    },
    pairsOf,
  );
  return { ...plan, pairNs: estimate, blocks, bare };
}

/** The driver's own pool answers from memory too, so that only what it took past the layer must be seen. */
function hiddenChecks(rows: readonly Row[]) {
  const call = ({ api, bytes }: Plan) => `${api} of ${formatBytes(bytes)}`;
  const served = rows.flatMap((row) => {
    const measured = { call: call(row), blocks: row.blocks, bare: [row.bare] };
    return [
      servedBy(measured, ({ allocNs }) => allocNs, { loop: pairsOf }),
      servedBy(measured, ({ freeNs }) => freeNs, { part: 'its free', loop: pairsOf }),
    ];
  });
  const seen = ({ usedBefore, usedWarm }: PoolPairs) => ({ usedBefore, usedLive: usedWarm });
  const memory = rows.flatMap((row) =>
    row.blocks.map((block) => ({
      ...seen(block),
      call: call(row),
      bytes: WARM_BYTES,
      alone: row.bare && seen(row.bare),
    })),
  );
  return [bulkCheck(served), grownCheck(memory)];
}

function rowOf({ api, bytes, pairNs, blocks }: Row): MemoryPoolDetails['rows'][number] {
  const { value, ci95 } = scaled(pairNs, NS_PER_US);
  const medianUs = (of: (block: PoolPairs) => Float64Array) => median(concat(...blocks.map(of))).value / NS_PER_US;
  const pairs = concat(...blocks.map(pairsOf));
  const p99 = summarise(pairs)?.p99 ?? null;
  return {
    api,
    bytes,
    pairUs: value,
    ci95,
    allocUs: medianUs(({ allocNs }) => allocNs),
    freeUs: medianUs(({ freeNs }) => freeNs),
    pairP99Us: p99 === null ? null : p99 / NS_PER_US,
    count: pairs.length,
  };
}

/** For each size, the direct time divided by the pooled time; null if one of the two was not measured. */
function speedups(rows: readonly Row[]): MemoryPoolDetails['speedups'] {
  return SIZES.flatMap((bytes) => {
    const pairNs = (api: Api) => rows.find((row) => row.api === api && row.bytes === bytes)?.pairNs.value;
    const [direct, pooled] = [pairNs(DIRECT), pairNs(POOLED)];
    return direct === undefined || pooled === undefined ? [] : [{ bytes, poolSpeedup: direct / pooled }];
  });
}

interface Refused extends PoolRefusal {
  api: typeof POOLED | typeof NAMED;
  requestedBytes: number;
}

/** Requests more than the process is told it has, with either call. */
async function askTooMuch(session: Session): Promise<{ totalBytes: number; asked: Refused[] } | null> {
  const { totalBytes } = await session.ask('visibleMemory');
  if (totalBytes === null) return null;
  const requestedBytes = Math.ceil((totalBytes + BEYOND_BYTES) / MIB) * MIB;
  const asked: Refused[] = [];
  for (const api of [POOLED, NAMED] as const) {
    try {
      asked.push({ api, requestedBytes, ...(await session.ask('poolRefusal', { api, bytes: requestedBytes })) });
    } catch (error) {
      if (!rowState(error)) throw error;
    }
  }
  return { totalBytes, asked };
}

const outcomeOf = ({ granted, code }: PoolRefusal): (typeof OUTCOMES)[number] =>
  granted ? 'granted' : code === OUT_OF_MEMORY ? 'refused' : 'wrong_error';

const describedRefusal = (refusal: Refused): MemoryPoolDetails['refusals'][number] => ({
  api: refusal.api,
  requestedBytes: refusal.requestedBytes,
  outcome: outcomeOf(refusal),
  code: refusal.code,
  name: refusal.name,
});

function refusalCheck(asked: readonly Refused[]): Check {
  const name = 'a request beyond the memory is refused with CUDA_ERROR_OUT_OF_MEMORY';
  if (asked.length === 0)
    return { name, passed: 'not checked', detail: 'the process cannot read how much memory there is' };
  const told = asked.map((one) => `${one.api} of ${formatBytes(one.requestedBytes)}: ${one.name}`);
  return { name, passed: asked.every((one) => outcomeOf(one) === 'refused'), detail: told.join('; ') };
}

/** Every use of the pool must restore its state. */
function restoredCheck(states: readonly Pick<PoolPairs, 'before' | 'after'>[]): Check {
  const name = 'the pool is left as it was found';
  const known = states.filter(({ before, after }) => before.thresholdBytes !== null && after.thresholdBytes !== null);
  if (known.length === 0) return { name, passed: 'not checked', detail: 'the pool does not report its threshold' };
  const threshold = known.find(({ before, after }) => before.thresholdBytes !== after.thresholdBytes);
  const used = states.find(({ before, after }) => before.usedBytes !== after.usedBytes);
  const changes = [
    threshold && `its threshold was ${threshold.before.thresholdBytes} and is ${threshold.after.thresholdBytes} bytes`,
    used && `${used.before.usedBytes ?? 'an unknown number of'} bytes of it were used and now ${used.after.usedBytes}`,
  ].filter((change) => change !== undefined);
  return { name, passed: changes.length === 0, detail: changes.join('; ') || 'threshold and bytes used' };
}

export const memoryPool: MetricDefinition<MemoryPoolDetails> = {
  id: 'LLM-005',
  name: 'Memory Pool Efficiency',
  category: 'llm',
  unit: '%',
  direction: 'lower',
  question: 'Do the stream-ordered allocators of frameworks stay cheap under the layer?',
  estimator:
    'cuMemAllocAsync and cuMemFreeAsync of 1 MiB from a warm pool, compared with the native arm of the same round',
  delta: { absolute: 5 },
  needs: ['a native arm', 'memory pools'],
  functionName: 'measureMemoryPool',
  where: 'process',
  details,
  seconds: { quick: 1, standard: 1, thorough: 2 },
  againstNative: {
    arm: ({ pairUs }) => (typeof pairUs === 'number' ? pairUs : null),
    difference: (system, native) => 100 * (system / native - 1),
  },
  async measure(context) {
    const session = await context.session();
    const { limit } = await memoryRoom(session);
    if (limit < 4 * WARM_BYTES)
      return unsupported(`a pool of ${formatBytes(WARM_BYTES)} is more than a quarter of ${limit} bytes`);
    const plans = APIS.flatMap((api) => SIZES.map((bytes) => ({ api, bytes })));
    const rows: Row[] = [];
    const missing: (Plan & RowState)[] = [];
    for (const [index, plan] of shuffled(plans, context.options.seed).entries())
      try {
        rows.push(await measureRow(context, session, plan, index / plans.length));
      } catch (error) {
        const state = rowState(error);
        if (!state || isHeadline(plan)) throw error;
        missing.push({ ...plan, ...state });
      }
    const beyond = await askTooMuch(session);
    const asked = beyond?.asked ?? [];
    const restored = restoredCheck([...rows.flatMap(({ blocks }) => blocks), ...asked]);
    const hidden = hiddenChecks(rows);
    const own = rows.find(isHeadline)?.pairNs as MedianEstimate;
    return {
      status: 'unsupported',
      reason: 'needs a native arm: compare --system native --system …; pairUs is in the details',
      ...invalidIfHidden(hidden),
      // Counted bytes say more than compared times.
      ...invalidBy([restored]),
      value: null,
      ci95: null,
      headline: null,
      details: {
        limitBytes: limit,
        pairUs: own.value / NS_PER_US,
        rows: [...rows.map(rowOf), ...missing].sort(byApiAndSize),
        speedups: speedups(rows),
        refusals: asked.map(describedRefusal),
      },
      checks: [restored, ...hidden, refusalCheck(asked)],
      violations: asked.flatMap((one) =>
        outcomeOf(one) === 'granted'
          ? [
              `${one.api}: ${formatBytes(one.requestedBytes)} granted although cuMemGetInfo reports ${formatBytes(beyond?.totalBytes as number)} in total`,
            ]
          : [],
      ),
    };
  },
};

const byApiAndSize = (a: Plan, b: Plan): number => APIS.indexOf(a.api) - APIS.indexOf(b.api) || a.bytes - b.bytes;

/**
 * LLM-005: the time of a pair of cuMemAllocAsync and cuMemFreeAsync of 1 MiB from a warm pool, in `details.pairUs`;
 * `details.rows[]` has other sizes, cuMemAllocFromPoolAsync and cuMemAlloc, `details.speedups[]` the gain by the pool.
 * The metric needs a native arm: alone it is `unsupported`; in a comparison with native its effect is the increase in
 * per cent, signed.
 */
export const measureMemoryPool = measureFunction(memoryPool);

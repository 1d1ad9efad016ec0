/** The rate at which decode attention reads a paged KV cache: a row in addition to the token latency. */
import * as v from 'valibot';
import type { DecodeAttentionRequest, PreparedDecoder } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { count, described, quantity, text } from '../core/details.js';
import { isOutOfMemory } from '../core/row-state.js';
import { formatBytes } from '../../results/text/format-bytes.js';

const BATCHES: Record<Tier, number> = { quick: 3, standard: 10, thorough: 30 };
const LEAST_LAUNCHES = 20;
const LEAST_NS = 50_000_000;
const DEADLINE_MS = 120_000;
/** The KV cache exceeds this many L2 caches. */
const CACHES = 8;
const SLACK = 0.05;

/** Heads of a model with eight billion parameters. */
const HEADS = { heads: 32, kvHeads: 8, dimension: 128 };
const CONTEXT = 4_096;
const SEQUENCE_BYTES = CONTEXT * HEADS.kvHeads * HEADS.dimension * 2 * 2;
/** The simulated card computes on the host what a GPU would. */
const SIMULATED_BATCHES = 10;
const SIMULATED = { heads: 8, kvHeads: 2, dimension: 64, batch: 2, context: 64 };

export const decodeShape = {
  batch: count('Sequences in a launch'),
  context: count('Tokens in the cache of a sequence'),
};
export const decodeRate = {
  gbPerSecond: quantity('GB/s', 'Median rate of reading the cache'),
  referenceError: described(v.number(), 'Largest error of an output of sampled heads, against double precision'),
};

/** Schema of the row. */
export const decodeAttentionField = described(
  v.union([
    v.strictObject({
      ...decodeShape,
      bytes: count('Keys and values that a launch reads (bytes)'),
      ...decodeRate,
      percentOfCeiling: v.nullable(
        quantity('%', "That rate, of what the memory's clock and width allow; null if it may come from the L2 cache"),
      ),
    }),
    v.strictObject({ unsupported: text('Why it was not measured') }),
  ]),
  'Attention of one query per sequence over a paged KV cache, as when a model decodes',
);

export interface DecodeAttention {
  row: v.InferOutput<typeof decodeAttentionField>;
  checks: Check[];
}

interface Surroundings {
  prepared: PreparedDecoder;
  tier: Tier;
  seed: number;
  limitBytes: number | null;
  simulated: boolean;
}

function sizesOf({ prepared, limitBytes, simulated }: Surroundings): typeof SIMULATED | { unsupported: string } {
  if (simulated) return SIMULATED;
  const bytes = Math.max(CACHES * prepared.l2Bytes, SEQUENCE_BYTES);
  if (limitBytes !== null && bytes > limitBytes / 4)
    return { unsupported: `a cache of ${formatBytes(bytes)} is more than a quarter of the memory limit` };
  return { ...HEADS, context: CONTEXT, batch: Math.ceil(bytes / SEQUENCE_BYTES) };
}

export async function measureDecodeAttention(tenant: WorkerTenant, about: Surroundings): Promise<DecodeAttention> {
  const sizes = sizesOf(about);
  if ('unsupported' in sizes) return { row: sizes, checks: [] };
  const { prepared, tier, seed, simulated } = about;
  const request: DecodeAttentionRequest = {
    ...sizes,
    seed,
    batches: simulated ? SIMULATED_BATCHES : BATCHES[tier],
    leastLaunches: LEAST_LAUNCHES,
    leastNs: simulated ? 0 : LEAST_NS,
  };
  try {
    const rate = await askSession(tenant, { name: 'decodeAttentionRate', request, deadlineMs: DEADLINE_MS });
    const gbPerSecond = rate.bytes / median(rate.launchNs).value;
    const { dramCeilingGbs, l2Bytes } = prepared;
    const isFromDram = dramCeilingGbs > 0 && rate.bytes >= CACHES * l2Bytes;
    const row = {
      batch: sizes.batch,
      context: sizes.context,
      bytes: rate.bytes,
      gbPerSecond,
      percentOfCeiling: isFromDram ? (100 * gbPerSecond) / dramCeilingGbs : null,
      referenceError: rate.referenceError,
    };
    return { row, checks: [withinCeiling(gbPerSecond, isFromDram ? dramCeilingGbs : null)] };
  } catch (error) {
    if (isOutOfMemory(error)) return { row: { unsupported: error.message }, checks: [] };
    throw error;
  }
}

const withinCeiling = (gbPerSecond: number, ceiling: number | null): Check => ({
  name: 'decode attention reads no faster than DRAM',
  passed: ceiling === null ? 'not checked' : gbPerSecond <= ceiling * (1 + SLACK),
  detail:
    ceiling === null
      ? 'its keys and values may stay in the L2 cache'
      : `${gbPerSecond.toPrecision(4)} GB/s of at most ${ceiling.toPrecision(4)}`,
});

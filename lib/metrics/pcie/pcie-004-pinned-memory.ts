/**
 * PCIE-004: how much faster copies from pinned memory are, how long pinning takes, and whether a layer affects either.
 */
import * as v from 'valibot';
import { choice, count, described, interval, quantity, rowOrReason, rows } from '../core/details.js';
import type { CopySource, SourceCopies } from '../../native/addon-types.js';
import type { Session } from '../../native/session.js';
import { median, type MedianEstimate } from '../../stats/median.js';
import { shuffled } from '../../stats/random.js';
import { serialMedian } from '../../stats/serial.js';
import { concat } from '../core/collect.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { memoryRoom } from '../overhead/memory-sizes.js';
import { rowState, type RowState } from '../core/row-state.js';
import { BenchError } from '../../errors/bench-error.js';
import { MIB, NS_PER_US } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { headlineBytes, LEAST_HEADLINE, pinningRefused } from './copy-curve.js';
import { describedLink, linkDetails, noFasterThan, sourcesBeyondLink, unboundedBy, wholeLink } from './link.js';

const PINNED = 'cuMemHostAlloc';
const PAGEABLE = 'mmap';
const SOURCES = [PINNED, PAGEABLE, 'cuMemHostRegister'] as const satisfies readonly CopySource[];
const details = v.strictObject({
  limitBytes: count('Memory that the process may use (bytes)'),
  bytes: count('Size of a copy (bytes)'),
  node: v.nullable(count('NUMA node of the pinned memory; null if it is not known')),
  link: linkDetails,
  sources: rows(
    rowOrReason(
      { source: choice(SOURCES, 'How the memory of the host was made') },
      {
        gbs: quantity('GB/s', 'Median rate of copies to the device'),
        ci95: interval('GB/s', 'gbs'),
        count: count('Copies'),
        pinUsPerMib: v.nullable(quantity('us per MiB', 'What pinning costs; null for memory that is not pinned')),
      },
    ),
    'A row per kind of memory',
  ),
  ratio: v.optional(described(v.number(), 'The value where nothing bounds it, so that it cannot be believed')),
});

export type PinnedMemoryDetails = v.InferOutput<typeof details>;

/** Blocks per source; each pins its own memory. */
const BLOCKS = { quick: 3, standard: 4, thorough: 8 } as const;
/** Copies per block. */
const COPIES = { quick: 4, standard: 4, thorough: 10 } as const;
const WARMUP = 1;

interface Row {
  source: (typeof SOURCES)[number];
  blocks: SourceCopies[];
  state: RowState | null;
}

interface MeasuredRow {
  source: CopySource;
  gbs: MedianEstimate;
  samples: Float64Array;
}

/**
 * Rethrows if data was not copied, because then no number is trusted, or if the source is one of the two behind the
 * value.
 */
function stateOf(error: unknown, source: CopySource): RowState {
  const state = error instanceof BenchError && error.code === 'INVALID_RESULT' ? null : rowState(error);
  if (!state || source === PINNED || source === PAGEABLE) throw error;
  return state;
}

async function measureRows(context: MeasureContext, session: Session, bytes: number): Promise<Row[]> {
  const { tier, iterations, warmup, seed } = context.options;
  const rows = SOURCES.map((source): Row => ({ source, blocks: [], state: null }));
  const count = iterations ?? COPIES[tier];
  for (let block = 0; block < BLOCKS[tier]; block++)
    for (const row of shuffled(rows, seed + block)) {
      if (row.state) continue;
      const { source } = row;
      context.progress(`${source}, ${formatBytes(bytes)}`, block / BLOCKS[tier]);
      try {
        row.blocks.push(
          await session.block('sourceCopies', { source, bytes, count, warmup: warmup ?? WARMUP, seed: seed + block }),
        );
      } catch (error) {
        row.state = stateOf(error, source);
      }
    }
  return rows;
}

/** Bytes per nanosecond are GB/s. */
function rateOf({ source, blocks, state }: Row, bytes: number): MeasuredRow[] {
  if (state) return [];
  const samples = concat(...blocks.map(({ copyNs }) => copyNs.map((ns) => bytes / ns)));
  return [{ source, gbs: serialMedian(samples), samples }];
}

/** Each block is pinned by one call; the result is the median over blocks. */
function pinUsPerMib({ blocks }: Row): number | null {
  const costs = blocks.flatMap(({ pinNs, pinnedBytes }) =>
    pinNs === null ? [] : [pinNs / NS_PER_US / (pinnedBytes / MIB)],
  );
  return costs.length === 0 ? null : median(costs).value;
}

function sourceRow(row: Row, rates: readonly MeasuredRow[]) {
  const rate = rates.find(({ source }) => source === row.source);
  if (row.state || !rate) return { source: row.source, ...(row.state ?? { failed: 'no copy was made' }) };
  const { gbs, samples } = rate;
  return {
    source: row.source,
    gbs: gbs.value,
    ci95: gbs.ci95,
    count: samples.length,
    pinUsPerMib: pinUsPerMib(row),
  };
}

async function measured(context: MeasureContext): Promise<Measured<PinnedMemoryDetails>> {
  const session = await context.session();
  const { limit } = await memoryRoom(session);
  const bytes = headlineBytes(limit);
  if (bytes < LEAST_HEADLINE)
    return unsupported(`a quarter of ${formatBytes(limit)} is less than ${formatBytes(LEAST_HEADLINE)}`);
  const measuredRows = await measureRows(context, session, bytes);
  const link = await session.ask('pcieLink', { bytes, seed: context.options.seed });
  const rates = measuredRows.flatMap((row) => rateOf(row, bytes));
  const of = (wanted: CopySource) => rates.find(({ source }) => source === wanted) as MeasuredRow;
  const pageable = of(PAGEABLE).gbs.value;
  const value = of(PINNED).gbs.value / pageable;
  const found = {
    limitBytes: limit,
    bytes,
    node: measuredRows[0]?.blocks[0]?.node ?? null,
    link: describedLink(link),
    sources: measuredRows.map((row) => sourceRow(row, rates)),
  };
  const unbounded = unboundedBy(link);
  if (unbounded !== null) return unsupported(unbounded, { ...found, ratio: value });
  const bounded = noFasterThan(
    link,
    rates.map(({ source, gbs }) => ({ name: `copies from ${source}`, gbs: gbs.value })),
  );
  return {
    ...invalidBy([bounded]),
    value,
    // An interval of the ratio cannot be derived from the intervals of the two medians.
    ci95: null,
    headline: of(PINNED).samples.map((gbs) => gbs / pageable),
    details: found,
    checks: [bounded, wholeLink(link)],
  };
}

export const pinnedMemory: MetricDefinition<PinnedMemoryDetails> = {
  id: 'PCIE-004',
  name: 'Pinned Memory Performance',
  category: 'pcie',
  unit: 'ratio',
  direction: 'none',
  question: 'How much faster are copies from pinned memory, and does the layer affect pinning?',
  estimator: 'median rate of cuMemcpyHtoD of 256 MiB from cuMemHostAlloc, divided by that from pageable memory',
  delta: { relative: 0.05 },
  impossible: sourcesBeyondLink,
  comparedAt: { name: 'bytes of a copy', of: ({ bytes }) => bytes },
  needs: ['pinned memory'],
  functionName: 'measurePinnedMemory',
  where: 'process',
  details,
  seconds: { quick: 3, standard: 4, thorough: 8 },
  async measure(context) {
    try {
      return await measured(context);
    } catch (error) {
      const refused = pinningRefused(error);
      if (refused === null) throw error;
      return unsupported(refused);
    }
  },
};

/**
 * PCIE-004, ratio: rate of cuMemcpyHtoD from memory of cuMemHostAlloc over the rate from pageable memory.
 * `details.sources[]` has both rates, that of memory pinned by cuMemHostRegister, and what pinning costs (µs per MiB).
 * `iterations` is the copies per block; `resolution` does not apply.
 */
export const measurePinnedMemory = measureFunction(pinnedMemory);

/** NCCL-003: how fast data gets from each GPU to each other one. */
import * as v from 'valibot';
import { choice, count, described, flag, interval, quantity, rows, text } from '../core/details.js';
import type { Tier } from '../../results/document.js';
import { smallestOf } from '../../stats/largest.js';
import { shuffled } from '../../stats/random.js';
import { serialMedian } from '../../stats/serial.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import type { RowState } from '../core/row-state.js';
import { windowInterval } from '../core/sample-stats.js';
import { headlineBytes } from '../pcie/copy-curve.js';
import { MIB } from '../core/units.js';
import { isSimulated } from './collectives.js';
import {
  describedGpus,
  gpusFields,
  type GpuWorkers,
  memoryLimit,
  unlessUnavailable,
  withGpuWorkers,
} from './gpu-workers.js';
import { beyondLinks, noFasterThanLinks } from './link-ceilings.js';
import { measurePair, type Pair, pairsOf, type PeerPlan, ratesOf, type Way, WAYS } from './peer-pairs.js';

const MOST_GPUS = 16;
const WARMUP = 2;
const SIMULATED_BYTES = MIB;
const COUNTS: Record<Tier, Pick<PeerPlan, 'count' | 'otherCount'>> = {
  quick: { count: 12, otherCount: 6 },
  standard: { count: 20, otherCount: 8 },
  thorough: { count: 60, otherCount: 20 },
};
/** The fields of a row of the details. */
const FIELDS = {
  cuMemcpyPeerAsync: 'gbs',
  'both directions at once': 'bothGbs',
  'loads of a kernel': 'loadsGbs',
  'another process': 'processGbs',
} as const;

const way = (about: string) => v.optional(v.nullable(quantity('GB/s', `${about}; null if it did not run`)));
const state = v.union([
  v.strictObject({ unsupported: text('Why this system cannot measure it') }),
  v.strictObject({ failed: text('The error that ended it') }),
]);

const pairRow = v.strictObject({
  from: v.optional(count('Index of the GPU, by NVML')),
  to: v.optional(count('Index of the other GPU')),
  connection: v.nullable(
    choice(
      ['NVLink', 'one board', 'PIX', 'PXB', 'PHB', 'NODE', 'SYS'],
      'What is between the two, as nvidia-smi abbreviates it; null if NVML does not say',
    ),
  ),
  nvlinks: count('Active NVLinks to the other GPU, or to the switch between them'),
  ceilingGbs: v.nullable(quantity('GB/s', 'What the connection carries in one direction; null if that is not known')),
  canAccess: flag("Whether the GPU can reach the other one's memory (cuDeviceCanAccessPeer)"),
  performanceRank: v.nullable(described(v.number(), 'Rank by the driver: 0 is the fastest; null: not reported')),
  nativeAtomics: v.nullable(described(v.number(), 'Whether atomics work over it, by the driver; null: not reported')),
  gbs: way('Median rate of cuMemcpyPeerAsync'),
  bothGbs: way('Median rate of a copy in each direction at the same time, together'),
  loadsGbs: way("Median rate of a kernel that reads the other GPU's memory"),
  processGbs: way("Median rate of copies to memory of the other GPU's process"),
  hostStagedGbs: way('Without access: median rate of copies, which go through the host'),
  ci95: interval('GB/s', 'the rate of cuMemcpyPeerAsync'),
  count: count('Copies by cuMemcpyPeerAsync'),
  without: v.optional(described(v.record(v.string(), state), 'Why some of the ways have no rate')),
});

const details = v.strictObject({
  bytes: count('Size of a copy (bytes)'),
  pairsWithAccess: count("Ordered pairs of which the first GPU can reach the other one's memory"),
  pairs: rows(pairRow, 'A row per ordered pair'),
  ...gpusFields,
  slowest: text('The slowest pair'),
  ceilingGbs: v.nullable(quantity('GB/s', 'What its connection carries in one direction; null if that is not known')),
  hostStagedGbs: v.optional(
    v.nullable(quantity('GB/s', 'Without access on any pair: median rate of the slowest, through the host')),
  ),
});

export type P2pGpuBandwidthDetails = v.InferOutput<typeof details>;

async function planOf(context: MeasureContext, gpus: GpuWorkers): Promise<PeerPlan> {
  const { tier, iterations, warmup } = context.options;
  return {
    ...COUNTS[tier],
    ...(iterations !== null && { count: iterations }),
    warmup: warmup ?? WARMUP,
    // Two buffers on each side, each a little larger.
    bytes: isSimulated(context) ? SIMULATED_BYTES : headlineBytes((await memoryLimit(gpus)) / 2),
  };
}

/** Null without copies, and where a rate is not a number because copies took no time. */
function rateOf(row: Pair['rows'][Way]): number | null {
  const rate = row?.gbs?.value ?? NaN;
  return Number.isFinite(rate) ? rate : null;
}

function rowOf({ from, to, link, access, ceilingGbs, rows }: Pair, { gpus }: GpuWorkers) {
  const { canAccess, performanceRank, nativeAtomics } = access;
  const copy = rows.cuMemcpyPeerAsync;
  const numbers = WAYS.map((way): [string, number | null] => [FIELDS[way], rateOf(rows[way])]);
  const states = WAYS.flatMap((way) => {
    const state = rows[way]?.state;
    return state ? [[way, state]] : [];
  });
  return {
    from: gpus[from]?.index,
    to: gpus[to]?.index,
    connection: link.connection,
    nvlinks: link.peerNvlinks,
    ceilingGbs,
    canAccess,
    performanceRank,
    nativeAtomics,
    ...(canAccess ? Object.fromEntries(numbers) : { hostStagedGbs: rateOf(copy) }),
    ci95: copy?.gbs?.ci95 ?? null,
    count: copy?.samples.length ?? 0,
    ...(states.length > 0 && { without: Object.fromEntries(states) as Partial<Record<Way, RowState>> }),
  };
}

const gbsOf = ({ rows }: Pair): number => rows.cuMemcpyPeerAsync?.gbs?.value ?? Infinity;

/** Interval of the lowest median of any pair. */
function slowestCi95(pairs: readonly Pair[]): Measured['ci95'] {
  const rates = pairs.flatMap(({ rows }) => rows.cuMemcpyPeerAsync?.samples ?? []).filter(({ length }) => length > 0);
  return rates.length === 0
    ? null
    : smallestOf(rates.map((samples) => (alpha) => serialMedian(samples, { alpha }))).ci95;
}

function judged(gpus: GpuWorkers, pairs: readonly Pair[], { bytes }: PeerPlan): Measured<P2pGpuBandwidthDetails> {
  const reachable = pairs.filter(({ access }) => access.canAccess);
  const all = {
    bytes,
    pairsWithAccess: reachable.length,
    pairs: pairs.map((pair) => rowOf(pair, gpus)),
    ...describedGpus(gpus),
  };
  const slowest = [...(reachable.length > 0 ? reachable : pairs)].sort((a, b) => gbsOf(a) - gbsOf(b))[0] as Pair;
  const estimate = slowest.rows.cuMemcpyPeerAsync;
  if (reachable.length === 0)
    return unsupported("no GPU can reach another one's memory (cuDeviceCanAccessPeer): copies go through the host", {
      ...all,
      hostStagedGbs: rateOf(estimate),
    });
  const name = (place: number): string => `GPU ${gpus.gpus[place]?.index ?? place}`;
  const checks = [noFasterThanLinks(ratesOf(pairs, name))];
  return {
    ...invalidBy(checks),
    value: rateOf(estimate),
    ...windowInterval(slowestCi95(reachable)),
    processes: gpus.workers.length,
    headline: estimate?.samples ?? null,
    details: {
      ...all,
      slowest: `${name(slowest.from)} to ${name(slowest.to)}`,
      ceilingGbs: slowest.ceilingGbs,
    },
    checks,
  };
}

async function measured(
  context: MeasureContext,
  gpus: GpuWorkers,
  plan: PeerPlan,
): Promise<Measured<P2pGpuBandwidthDetails>> {
  const { seed } = context.options;
  const pairs = await pairsOf(gpus);
  let done = 0;
  for (const pair of shuffled(pairs, seed)) {
    context.progress(`GPU ${gpus.gpus[pair.from]?.index} to ${gpus.gpus[pair.to]?.index}`, done / pairs.length);
    await measurePair(gpus, pair, plan, seed + done);
    done += 1;
  }
  return judged(gpus, pairs, plan);
}

/** With a given plan, for tests. */
export const peerBandwidthBy =
  (plan?: PeerPlan): MetricDefinition<P2pGpuBandwidthDetails>['measure'] =>
  (context) =>
    unlessUnavailable(() =>
      withGpuWorkers(
        context,
        { environment: {}, count: (visible) => Math.min(visible, MOST_GPUS), first: () => Promise.resolve() },
        async (gpus) => measured(context, gpus, plan ?? (await planOf(context, gpus))),
      ),
    );

export const peerBandwidth: MetricDefinition<P2pGpuBandwidthDetails> = {
  id: 'NCCL-003',
  name: 'P2P GPU Bandwidth',
  category: 'nccl',
  unit: 'GB/s',
  direction: 'higher',
  question: 'Do virtualised GPUs still reach each other directly, over NVLink or PCIe?',
  estimator: 'median of cuMemcpyPeerAsync of 256 MiB by events, of the slowest ordered pair of GPUs',
  delta: { relative: 0.02 },
  comparedAt: {
    name: 'pairs with peer access × bytes',
    of: ({ pairsWithAccess, bytes }) =>
      pairsWithAccess === undefined ? undefined : `${String(pairsWithAccess)} × ${String(bytes)}`,
  },
  impossible: beyondLinks,
  needs: ['two GPUs', 'peer access'],
  functionName: 'measureP2pGpuBandwidth',
  where: 'fresh-processes',
  details,
  seconds: { quick: 10, standard: 12, thorough: 20 },
  measure: peerBandwidthBy(),
};

/**
 * NCCL-003, GB/s: median rate of cuMemcpyPeerAsync of 256 MiB (or an eighth of the memory that the process may use) from
 * one GPU to another, of the slowest ordered pair of visible GPUs; every word of every copy is verified.
 * `details.pairs[]` is the matrix: `gbs`, `bothGbs` (a copy in each direction at the same time), `loadsGbs` (a kernel
 * that reads the other GPU's memory), `processGbs` (to memory of the other GPU's process, by cuIpc), and what NVML says
 * of the connection, which no rate may exceed. Without peer access on any pair it is `unsupported`; copies through the
 * host are then `hostStagedGbs`. `iterations` is the number of copies of a pair; `resolution` does not apply.
 */
export const measureP2pGpuBandwidth = measureFunction(peerBandwidth);

/** OH-001: isolated launches, from the call to its return, to the kernel's first instruction, to its end. */
import type { Check } from '../../document.js';
import type { LaunchBlock, LaunchCall } from '../../native/addon-types.js';
import { type MedianEstimate, median } from '../../stats/median.js';
import { type Collected, collect, concat } from '../collect.js';
import type { MeasureContext, MetricDefinition } from '../metric.js';
import { rowState } from '../row-state.js';
import { NS_PER_US, scaled, scaledSamples } from '../units.js';

const CALLS: readonly LaunchCall[] = ['cuLaunchKernel', 'cuLaunchKernelEx', 'cuGraphLaunch'];
const WARMUP = 200;
/** Of a process: 2 000 launches with random gaps take about 0.3 s. `standard` has five processes. */
const CAP = { quick: 1_000, standard: 1_000, thorough: 2_000 } as const;
/** Every block has a clock mapping of its own, whose error all its starts share: many small ones average it out. */
const BLOCK = 100;
const BLOCKS_OF_FIXED = 8;
const MAX_RESIDUAL_NS = 500;
const MAX_NEGATIVES = 0.001;
const FEWEST_MAPPED = 0.5;
/** Random gaps of 50 to 200 µs, as between the launches of a block. */
const LONGEST_GAP_NS = 200_000;
const PAIRS = { quick: 500, standard: 1_000, thorough: 2_000 } as const;

type Row = Collected<LaunchBlock>;

const isMapped = ({ mapping }: LaunchBlock): boolean => mapping.residualNs <= Math.max(MAX_RESIDUAL_NS, mapping.tickNs);

const medianOf = (samples: Float64Array): number => median(samples).value;

const startMedians = (blocks: LaunchBlock[]): Float64Array<ArrayBuffer> =>
  Float64Array.from(blocks.filter(isMapped), ({ startNs }) => medianOf(startNs));

/** Over blocks, not over launches: the launches of one block are not independent of each other. */
function startEstimate(blocks: LaunchBlock[]): MedianEstimate {
  const starts = startMedians(blocks);
  return starts.length > 0 ? median(starts) : { value: Number.NaN, ci95: null };
}

async function measureCall(context: MeasureContext, call: LaunchCall, index: number): Promise<Row> {
  const session = await context.session();
  const { iterations, resolution, tier, seed, warmup } = context.options;
  const blockSize = iterations === null ? BLOCK : Math.min(BLOCK, Math.ceil(iterations / BLOCKS_OF_FIXED));
  let blocks = 0;
  return collect(
    { iterations, resolution, blockSize, cap: CAP[tier] },
    async (count, fraction) => {
      context.progress(call, (index + fraction) / CALLS.length);
      const first = blocks++ === 0;
      return session.launchBlock({ call, count, warmup: first ? (warmup ?? WARMUP) : 0, seed: seed + blocks });
    },
    (block) => block.startNs,
    startEstimate,
  );
}

const inUs = (blocks: LaunchBlock[], of: (block: LaunchBlock) => Float64Array) =>
  scaled(median(concat(...blocks.map(of))), NS_PER_US);

/** Starts of the blocks whose mapping holds; the others have none that could be vouched for. */
const mappedStarts = (row: Row): Float64Array<ArrayBuffer> =>
  concat(...row.blocks.filter(isMapped).map(({ startNs }) => startNs));

function mappingOf(row: Row) {
  const mapped = row.blocks.filter(isMapped);
  const worst = (of: (mapping: LaunchBlock['mapping']) => number) =>
    Math.max(...(mapped.length > 0 ? mapped : row.blocks).map((block) => of(block.mapping)));
  return {
    residualNs: worst((m) => m.residualNs),
    bracketNs: worst((m) => m.bracketNs),
    driftPpm: median(row.blocks.map((b) => b.mapping.driftPpm)).value,
    tickNs: worst((m) => m.tickNs),
    blocks: row.blocks.length,
    blocksMapped: mapped.length,
    negatives: mappedStarts(row).filter((ns) => ns < 0).length,
  };
}

function mappingChecks(row: Row): Check[] {
  const { residualNs, tickNs, negatives, blocks, blocksMapped } = mappingOf(row);
  return [
    {
      name: 'clock mapping residual',
      passed: blocksMapped >= FEWEST_MAPPED * blocks,
      detail: `at most ${Math.max(MAX_RESIDUAL_NS, tickNs)} ns in ${blocksMapped} of ${blocks} blocks, worst of them ${residualNs.toFixed(0)} ns`,
    },
    {
      name: 'no kernel starts before its call',
      passed: negatives <= MAX_NEGATIVES * row.samples.length,
      detail: `${negatives} of ${row.samples.length}`,
    },
  ];
}

/** Without it a row has no start: submit and round trip, on the host's clock alone, stay. */
const hasStart = (row: Row): boolean => mappingChecks(row).every(({ passed }) => passed === true);

function describe(call: LaunchCall, row: Row) {
  const submit = inUs(row.blocks, (b) => b.submitNs);
  const start = hasStart(row) ? scaled(row.estimate, NS_PER_US) : null;
  const roundTrip = inUs(row.blocks, (b) => b.roundTripNs);
  return {
    call,
    submitUs: submit.value,
    submitCi95: submit.ci95,
    startUs: start?.value ?? null,
    startCi95: start?.ci95 ?? null,
    ...(!start && { invalid: 'clock mapping' }),
    roundTripUs: roundTrip.value,
    roundTripCi95: roundTrip.ci95,
    count: row.samples.length,
    stop: row.stop,
    mapping: mappingOf(row),
  };
}

/**
 * The companion of the rounds: the same isolated call through the application's pointer and through the driver's own, in
 * one process. In a tight loop (OH-005) a hook finds its code and data in the nearest cache; here it does not.
 */
async function pairOfLaunches(context: MeasureContext) {
  const session = await context.session();
  const { tier, seed } = context.options;
  const request = { name: 'cuLaunchKernel', calls: 1, maxBatchNs: 1, gapNs: LONGEST_GAP_NS, seed };
  const { hookedNs, bareNs, intercepted } = await session.pairBlock({ ...request, batches: PAIRS[tier] });
  const { value, ci95 } = median(hookedNs.map((hooked, i) => hooked - (bareNs[i] as number)));
  const pair = { hookedNs: median(hookedNs).value, bareNs: median(bareNs).value, pairs: hookedNs.length };
  return { call: request.name, intercepted, overheadNs: value, ci95, ...pair };
}

export const kernelLaunchLatency: MetricDefinition = {
  id: 'OH-001',
  name: 'Kernel Launch Latency',
  category: 'overhead',
  unit: 'us',
  direction: 'lower',
  question: 'What fixed tax does the layer add to every small kernel, that is, to low-batch decode?',
  estimator: 'median over blocks of the median call → kernel start',
  delta: { relative: 0.05 },
  needs: [],
  functionName: 'measureKernelLaunch',
  where: 'process',
  seconds: { quick: 1, standard: 1, thorough: 2 },
  async measure(context) {
    const calls: Record<string, unknown>[] = [];
    let headline: Row | null = null;
    for (const [index, call] of CALLS.entries()) {
      try {
        const row = await measureCall(context, call, index);
        calls.push(describe(call, row));
        headline ??= row;
      } catch (error) {
        const state = rowState(error);
        if (!state || call === 'cuLaunchKernel') throw error;
        calls.push({ call, ...state });
      }
    }
    if (!headline) throw new Error('unreachable: the first call is measured or throws');
    const checks = mappingChecks(headline);
    const start = scaled(headline.estimate, NS_PER_US);
    return {
      ...(!hasStart(headline) && { status: 'invalid' as const, reason: 'clock mapping' }),
      value: start.value,
      ci95: start.ci95,
      headline: scaledSamples(mappedStarts(headline), NS_PER_US),
      blocks: scaledSamples(startMedians(headline.blocks), NS_PER_US),
      details: { calls, pair: await pairOfLaunches(context) },
      checks,
    };
  },
};

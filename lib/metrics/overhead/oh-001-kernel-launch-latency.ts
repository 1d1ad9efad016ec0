/** OH-001: isolated launches, from the call to its return, to the kernel's first instruction, and to its end. */
import * as v from 'valibot';
import type { Check } from '../../results/document.js';
import type { LaunchBlock, LaunchCall, PairBlock } from '../../native/addon-types.js';
import { type MedianEstimate, median } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { collect, concat, type StopReason } from '../core/collect.js';
import { choice, count, described, interval, quantity, rowOrReason, rows, stopReason, text } from '../core/details.js';
import type { MeasureContext, MetricDefinition } from '../core/metric.js';
import { type RowState, rowState } from '../core/row-state.js';
import { NS_PER_US, scaled, scaledSamples } from '../core/units.js';
import { pairFields, pairSummary } from './pairs.js';
import { measureFunction } from '../core/measure-function.js';

const CALLS = ['cuLaunchKernel', 'cuLaunchKernelEx', 'cuGraphLaunch'] as const satisfies readonly LaunchCall[];
const HEADLINE = 'cuLaunchKernel';
const WARMUP = 200;
/** Untimed launches after the thread has moved to a core. */
const SETTLING = 10;
/** Samples of the headline's call per process. */
const CAP = { quick: 1_000, standard: 4_000, thorough: 4_000 } as const;
/** The other calls get one visit for this many of the headline's, unless a number of samples was requested. */
const OTHERS_EVERY = 8;
/**
 * Launches on one core and in one clock mapping, whose error all their starts share. Each visit uses the next core,
 * because other activity of a host disturbs single cores for long (on an H200's host one core had 5.3 us and another
 * 6.6 for a second).
 */
const VISIT = 20;
/** With a requested number of samples: enough visits for an interval if they hardly depend on each other. */
const FEWEST_VISITS = 30;
/** Visits between two checks of the resolution: every other call has had eight by the first. */
const VISITS_OF_BLOCK = 8 * OTHERS_EVERY;
const MAX_RESIDUAL_NS = 500;
/** An H200 answers in 1.6 to 2.1 us. */
const MAX_BRACKET_NS = 5_000;
const MAX_NEGATIVES = 0.001;
const FEWEST_MAPPED = 0.5;
/** Random gaps of 50 to 200 µs, as between the launches of a block. */
const LONGEST_GAP_NS = 200_000;
const PAIRS_OF_VISIT = 10;
const PAIRS = { quick: 500, standard: 150, thorough: 1_000 } as const;

interface Row {
  call: LaunchCall;
  visits: LaunchBlock[];
  /** Why it has no result, or null. */
  state: RowState | null;
}

const call = choice(CALLS, 'The launch call');

const details = v.strictObject({
  calls: rows(
    rowOrReason(
      { call },
      {
        submitUs: quantity('us', 'Median time from the call to its return'),
        submitCi95: interval('us', 'submitUs'),
        startUs: v.nullable(
          quantity(
            'us',
            "Median time from the call to the kernel's first instruction; null if the clocks were not mapped",
          ),
        ),
        startCi95: interval('us', 'startUs'),
        invalid: v.optional(text('Why there is no start')),
        roundTripUs: quantity('us', "Median time from the call to the end of the wait for the kernel's end"),
        roundTripCi95: interval('us', 'roundTripUs'),
        count: count('Launches'),
        stop: stopReason(),
        cores: v.nullable(count('Cores that launched; null if the thread could not be moved')),
        mapping: described(
          v.strictObject({
            residualNs: quantity('ns', 'Largest residual of a mapping of the clocks of host and device'),
            bracketNs: quantity('ns', "Widest of the round trips in which the device's clock was read"),
            driftPpm: quantity('ppm', "Median drift of the device's clock against the host's"),
            tickNs: quantity('ns', "Step of the device's clock"),
            blocks: count('Blocks of launches, each with a mapping of its own'),
            blocksOnLine: count('Blocks whose residual is small enough'),
            blocksMapped: count('Blocks whose round trips are short enough too: only they have starts'),
            negatives: count('Kernels that seem to start before their call'),
          }),
          "How the device's clock was mapped to the host's",
        ),
      },
    ),
    'A row per launch call',
  ),
  pair: v.optional(
    described(
      rowOrReason({ call }, pairFields),
      "cuLaunchKernel through the application's pointer and through the driver's own, in turn",
    ),
  ),
});

export type KernelLaunchDetails = v.InferOutput<typeof details>;

const isOnLine = ({ mapping }: LaunchBlock): boolean => mapping.residualNs <= Math.max(MAX_RESIDUAL_NS, mapping.tickNs);

/** The device reads its clock anywhere within a round trip: half of it is a bias that residuals do not show. */
const isMapped = (block: LaunchBlock): boolean => isOnLine(block) && block.mapping.bracketNs <= MAX_BRACKET_NS;

const medianOf = (samples: Float64Array): number => median(samples).value;

const startMedians = (visits: LaunchBlock[]): Float64Array<ArrayBuffer> =>
  Float64Array.from(visits.filter(isMapped), ({ startNs }) => medianOf(startNs));

/** Estimates over visits, not launches, because the launches of one visit are not independent. */
function startEstimate(visits: LaunchBlock[]): MedianEstimate {
  const starts = startMedians(visits);
  return starts.length > 0 ? serialMedian(starts) : { value: Number.NaN, ci95: null };
}

interface Collection {
  rows: Row[];
  stop: StopReason;
}

/** The calls alternate, so that each is spread over the whole time. */
async function measureCalls(context: MeasureContext): Promise<Collection> {
  const session = await context.session();
  const { iterations, resolution, tier, seed } = context.options;
  const warmup = context.options.warmup ?? WARMUP;
  const visit = iterations === null ? VISIT : Math.min(VISIT, Math.ceil(iterations / FEWEST_VISITS));
  const othersEvery = iterations === null ? OTHERS_EVERY : 1;
  const calls = CALLS.filter((call) => call === HEADLINE || !context.headlineOnly);
  const rows = calls.map((call): Row => ({ call, visits: [], state: null }));
  const [headline] = rows as [Row];
  let turn = seed;
  const measureOne = async ({ call, visits, ...row }: Row, count: number): Promise<RowState | null> => {
    if (row.state) return row.state;
    const before = visits.length === 0 ? warmup : Math.min(warmup, SETTLING);
    try {
      visits.push(await session.block('launchBlock', { call, count, warmup: before, seed: turn, core: turn }));
      return null;
    } catch (error) {
      const state = call === HEADLINE ? null : rowState(error);
      if (!state) throw error;
      return state;
    }
  };
  const { stop } = await collect(
    // Cores differ for as long as it takes to visit them: the noise falls with every visit, though not at every check.
    { iterations, resolution, blockSize: VISITS_OF_BLOCK * visit, cap: CAP[tier], mayStall: false },
    async (count) => {
      const first = headline.visits.length;
      for (let left = count; left > 0; left -= visit, turn++) {
        const due = rows.filter(({ call }) => call === HEADLINE || (turn - seed) % othersEvery === 0);
        for (const row of due) {
          context.progress(row.call, ((turn - seed) * visit) / (iterations ?? CAP[tier]));
          row.state = await measureOne(row, Math.min(visit, left));
        }
      }
      return headline.visits.slice(first);
    },
    (visits) => concat(...visits.map(({ startNs }) => startNs)),
    (blocks) => startEstimate(blocks.flat()),
  );
  return { rows, stop };
}

const inUs = (visits: LaunchBlock[], of: (visit: LaunchBlock) => Float64Array) =>
  scaled(serialMedian(concat(...visits.map(of))), NS_PER_US);

/** Starts from visits with a valid mapping; the others' are not trusted. */
const mappedStarts = ({ visits }: Row): Float64Array<ArrayBuffer> =>
  concat(...visits.filter(isMapped).map(({ startNs }) => startNs));

const launchesOf = ({ visits }: Row): number => visits.reduce((sum, { submitNs }) => sum + submitNs.length, 0);

function mappingOf(row: Row) {
  const { visits } = row;
  const mapped = visits.filter(isMapped);
  const worst = (of: (mapping: LaunchBlock['mapping']) => number) =>
    Math.max(...(mapped.length > 0 ? mapped : visits).map(({ mapping }) => of(mapping)));
  return {
    residualNs: worst((m) => m.residualNs),
    bracketNs: worst((m) => m.bracketNs),
    driftPpm: median(visits.map(({ mapping }) => mapping.driftPpm)).value,
    tickNs: worst((m) => m.tickNs),
    blocks: visits.length,
    blocksOnLine: visits.filter(isOnLine).length,
    blocksMapped: mapped.length,
    negatives: mappedStarts(row).filter((ns) => ns < 0).length,
  };
}

function mappingChecks(row: Row): Check[] {
  const { residualNs, bracketNs, tickNs, negatives, blocks, blocksOnLine, blocksMapped } = mappingOf(row);
  return [
    {
      name: 'clock mapping residual',
      passed: blocksOnLine >= FEWEST_MAPPED * blocks,
      detail: `at most ${Math.max(MAX_RESIDUAL_NS, tickNs)} ns in ${blocksOnLine} of ${blocks} blocks, worst of the mapped ones ${residualNs.toFixed(0)} ns`,
    },
    {
      name: 'clock mapping round trip',
      passed: blocksMapped >= FEWEST_MAPPED * blocks,
      detail: `tightest at most ${MAX_BRACKET_NS} ns at both ends of ${blocksMapped} of ${blocks} blocks, widest of them ${bracketNs.toFixed(0)} ns`,
    },
    {
      name: 'no kernel starts before its call',
      passed: negatives <= MAX_NEGATIVES * launchesOf(row),
      detail: `${negatives} of ${launchesOf(row)}`,
    },
  ];
}

/**
 * Whether the clock mapping is valid. If not, the row has no start; submit and round trip need only the host's clock.
 */
const hasStart = (row: Row): boolean => mappingChecks(row).every(({ passed }) => passed === true);

function describe({ rows, stop }: Collection) {
  return rows.map((row) => {
    const { call, visits, state } = row;
    if (state) return { call, ...state };
    const submit = inUs(visits, (b) => b.submitNs);
    const start = hasStart(row) ? scaled(startEstimate(visits), NS_PER_US) : null;
    const roundTrip = inUs(visits, (b) => b.roundTripNs);
    return {
      call,
      submitUs: submit.value,
      submitCi95: submit.ci95,
      startUs: start?.value ?? null,
      startCi95: start?.ci95 ?? null,
      ...(!start && { invalid: 'clock mapping' }),
      roundTripUs: roundTrip.value,
      roundTripCi95: roundTrip.ci95,
      count: launchesOf(row),
      stop,
      cores: coresOf(visits),
      mapping: mappingOf(row),
    };
  });
}

/** How many cores it used; null if the system let the thread choose none. */
function coresOf(visits: readonly LaunchBlock[]): number | null {
  const cores = new Set(visits.map(({ core }) => core));
  return cores.has(null) ? null : cores.size;
}

/**
 * An addition to the rounds: the same isolated call through the application's pointer and through the driver's own, in
 * one process. In a tight loop (OH-005) a hook finds its code and data in the L1 cache; here it does not.
 */
async function pairOfLaunches(context: MeasureContext): Promise<NonNullable<KernelLaunchDetails['pair']>> {
  const session = await context.session();
  const { tier, seed } = context.options;
  const request = { name: HEADLINE, calls: 1, maxBatchNs: 1, gapNs: LONGEST_GAP_NS, batches: PAIRS_OF_VISIT };
  const blocks: PairBlock[] = [];
  try {
    for (let turn = seed; turn < seed + PAIRS[tier] / PAIRS_OF_VISIT; turn++)
      blocks.push(await session.block('pairBlock', { ...request, seed: turn, core: turn }));
  } catch (error) {
    const state = rowState(error);
    if (!state) throw error;
    return { call: HEADLINE, ...state };
  }
  const { differences, ...medians } = pairSummary(blocks);
  return { call: HEADLINE, ...medians, pairs: differences.length };
}

export const kernelLaunchLatency: MetricDefinition<KernelLaunchDetails> = {
  id: 'OH-001',
  name: 'Kernel Launch Latency',
  category: 'overhead',
  unit: 'us',
  direction: 'lower',
  question: 'What fixed cost does the layer add to every small kernel, as in low-batch decode?',
  estimator: 'median over visits of cores of the median call → kernel start',
  delta: { relative: 0.05 },
  values: { grid: 0.001 },
  pairs: 'pair',
  needs: [],
  functionName: 'measureKernelLaunch',
  where: 'process',
  details,
  seconds: { quick: 1, standard: 1, thorough: 2 },
  furtherProcesses: { seconds: 0.8, disturbed: /^clock mapping/ },
  async measure(context) {
    const collection = await measureCalls(context);
    const headline = collection.rows[0] as Row;
    const checks = mappingChecks(headline);
    const start = scaled(startEstimate(headline.visits), NS_PER_US);
    return {
      ...(!hasStart(headline) && { status: 'invalid' as const, reason: 'clock mapping' }),
      value: start.value,
      ci95: start.ci95,
      headline: scaledSamples(mappedStarts(headline), NS_PER_US),
      blocks: scaledSamples(startMedians(headline.visits), NS_PER_US),
      details: {
        calls: describe(collection),
        ...(!context.headlineOnly && { pair: await pairOfLaunches(context) }),
      },
      checks,
    };
  },
};

/**
 * OH-001, µs: median time from the launch call to the kernel's first instruction; `details.calls[]` has submit, start
 * and round trip for cuLaunchKernel, cuLaunchKernelEx and a one-node graph.
 *
 * @example
 * ```ts
 * import { measureKernelLaunch } from 'gpu-virt-bench';
 *
 * const result = await measureKernelLaunch({ tier: 'standard' });
 * if (result.status === 'ok') console.log(result.value, result.unit, result.details.calls);
 * else console.error(result.reason);
 * ```
 */
export const measureKernelLaunch = measureFunction(kernelLaunchLatency);

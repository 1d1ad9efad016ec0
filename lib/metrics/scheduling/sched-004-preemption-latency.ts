/** SCHED-004: how long a small kernel waits for the card while another process keeps it busy with long kernels. */
import { max } from 'simple-statistics';
import * as v from 'valibot';
import type { Load, StartDelayRequest, StartDelays } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { theilSen } from '../../stats/theil-sen.js';
import { sessionTaskOf } from '../../workers/session-task.js';
import type { Task, WorkerTenant } from '../../workers/worker-tenant.js';
import { choice, count, described, flag, quantity, rowOrReason, rows } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import {
  invalidBy,
  type LineChart,
  type MeasureContext,
  type Measured,
  type MetricDefinition,
  unsupported,
} from '../core/metric.js';
import { isOutOfMemory, rowState } from '../core/row-state.js';
import { inScene, type MetricScene } from '../tenants/scene.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import { NS_PER_MS } from '../core/units.js';
import { residentAt } from './resident.js';

const PRIORITIES = ['equal', 'highest beside lowest'] as const;

const besideFields = {
  kernelMs: quantity('ms', 'Duration of a kernel of the other process or stream, alone on the card'),
  queued: count('Kernels that wait in its queue'),
};
const probesField = { probes: count('Small kernels') };
const delayFields = {
  p50Ms: v.nullable(quantity('ms', 'Median delay; null without a delay')),
  p99Ms: v.nullable(quantity('ms', '99th percentile; null with too few delays')),
  worstMs: v.nullable(quantity('ms', 'Longest delay; null without a delay')),
};

const cardFull = v.nullable(
  flag(
    'Whether a small kernel could not begin while all blocks of one of these kernels ran; null if that was not seen',
  ),
);

const lineField = (about: string) =>
  described(
    v.strictObject({
      aMs: quantity('ms', 'a of a + b·T, where T is the length of a kernel'),
      b: quantity('kernels', 'b: kernels that are waited for'),
    }),
    about,
  );

const details = v.strictObject({
  kernels: rows(
    v.strictObject({
      ...besideFields,
      ...probesField,
      met: count('Small kernels that met a kernel of the other process, whose delays count'),
      ...delayFields,
    }),
    'A row per length and number of queued kernels of another process',
  ),
  fits: rows(
    v.strictObject({
      queued: besideFields.queued,
      p50: lineField('Line through the median delays'),
      worst: lineField('Line through the longest delays'),
      lengths: count('Lengths of kernels through whose delays the lines go'),
    }),
    'A row per number of queued kernels',
  ),
  alone: described(v.strictObject({ ...delayFields, ...probesField }), 'Small kernels alone on the card'),
  ownKernels: rows(
    rowOrReason(
      { priority: choice(PRIORITIES, 'Priorities of the streams'), ...besideFields },
      { ...delayFields, ...probesField, cardFull },
    ),
    'A row per priority of other streams of the same process',
  ),
  mappingResidualNs: quantity(
    'ns',
    'What the mapping between the clocks of host and device leaves unexplained, at most',
  ),
  context: v.optional(processContext),
});

export type PreemptionDetails = v.InferOutput<typeof details>;

interface Beside {
  /** Duration of one of the other process's kernels, alone on the card. */
  kernelMs: number;
  /** Number of these kernels that wait in its queue. */
  queued: number;
}

export interface PreemptionPlan {
  rows: readonly Beside[];
  /** Length of the window of each row, and of each of the two windows alone; longer beside long kernels. */
  windowMs: number;
  /** Number of repetitions of all rows, each in the opposite order of the one before. */
  series: number;
}

/** The row whose delay is the value. */
const HEADLINE: Beside = { kernelMs: 10, queued: 1 };
const LENGTHS = [0.1, 0.5, 1, 10, 100];
const one = LENGTHS.map((kernelMs) => ({ kernelMs, queued: 1 }));
const deeper = (queued: number, ...lengths: number[]) => lengths.map((kernelMs) => ({ kernelMs, queued }));

const PLANS: Record<Tier, PreemptionPlan> = {
  quick: { rows: [...one, ...deeper(8, 1, 10)], windowMs: 300, series: 1 },
  standard: { rows: [...one, ...deeper(8, 0.5, 1, 10), ...deeper(64, 1, 10)], windowMs: 600, series: 1 },
  thorough: { rows: [...one, ...deeper(8, ...LENGTHS), ...deeper(64, 0.1, 0.5, 1, 10)], windowMs: 2_600, series: 4 },
};
/** Shortest time from the start of a small kernel to the next call, and least range above it. */
const LEAST_GAP_MS = 5;
const GAP_RANGE_MS = 10;
/** A window has room for so many gaps at least. */
const LEAST_GAPS = 12;
/** Pause after a window, in which the other process stops its kernels. */
const QUIET_NS = 30 * NS_PER_MS;
/** The other process begins this long before the first small kernel and ends this long after the last one. */
const LEAD_MS = 20;
const BIN_NS = NS_PER_MS;
const MOST_LISTED = 200_000;
const FEWEST_PROBES = 5;
/** Fraction of the small kernels that must find a kernel of the other process on the card. */
const LEAST_RESIDENT = 0.8;
const GRACE_MS = 90_000;

/**
 * Gaps are uniform over whole kernels: a small kernel that waited begins where one ends, and with gaps of another range
 * the next calls would be near the beginnings, or near the ends, of kernels only.
 */
function gapsBeside(kernelMs: number) {
  const rangeMs = kernelMs * Math.max(1, Math.round(GAP_RANGE_MS / kernelMs));
  return { periodNs: (LEAST_GAP_MS + rangeMs / 2) * NS_PER_MS, jitterNs: (rangeMs / 2) * NS_PER_MS };
}

interface Row extends Beside {
  /** Delays in ms of the small kernels that met a kernel of the other process. */
  delays: number[];
  /** Number of small kernels. */
  probes: number;
}

class Play {
  readonly #scene: MetricScene;
  readonly #victim: WorkerTenant;
  readonly #other: WorkerTenant;
  readonly #windowMs: number;
  #seed: number;
  #residualNs = 0;

  constructor(
    scene: MetricScene,
    [victim, other]: readonly [WorkerTenant, WorkerTenant],
    windowMs: number,
    seed: number,
  ) {
    this.#scene = scene;
    this.#victim = victim;
    this.#other = other;
    this.#windowMs = windowMs;
    this.#seed = seed;
  }

  /** The worst of all windows. */
  get residualNs(): number {
    return this.#residualNs;
  }

  /** `own`: kernels that the process itself keeps queued. */
  async alone(own: Partial<StartDelayRequest> = {}): Promise<StartDelays> {
    const probe = this.#probe(HEADLINE.kernelMs, own);
    const [delays] = (await this.#release<StartDelays>(new Map([[this.#victim, probe]]))) as [StartDelays];
    this.#note(delays);
    return delays;
  }

  async beside(beside: Beside, row: Row): Promise<void> {
    const probe = this.#probe(beside.kernelMs, {
      quietNs: 2 * LEAD_MS * NS_PER_MS + QUIET_NS + this.#drainNs(beside),
    });
    const load = sessionTaskOf('load', {
      call: 'cuLaunchKernel',
      nodes: 1,
      blocksPerMultiprocessor: 0,
      blocks: 0,
      threadsPerBlock: 0,
      rounds: 0,
      kernelNs: beside.kernelMs * NS_PER_MS,
      // One kernel runs; the others wait in the queue.
      inFlight: beside.queued + 1,
      durationNs: this.#windowNs(beside.kernelMs) + 2 * LEAD_MS * NS_PER_MS,
      binNs: BIN_NS,
      gapNs: BIN_NS,
      partition: 0,
      mostListed: MOST_LISTED,
    });
    const tasks = new Map<WorkerTenant, Task>([
      [this.#other, load],
      [this.#victim, probe],
    ]);
    const [kernels, delays] = (await this.#release<unknown>(tasks)) as [Load, StartDelays];
    this.#note(delays);
    const met = residentAt(delays, kernels, BIN_NS);
    row.probes += delays.delayNs.length;
    row.delays.push(...delays.delayNs.filter((_, i) => met[i]).map((ns) => ns / NS_PER_MS));
  }

  #note({ mapping }: StartDelays): void {
    this.#residualNs = Math.max(this.#residualNs, mapping.residualNs);
  }

  /** A kernel longer than a chunk of arithmetic ends early when it is told to stop; queued ones then end at once. */
  #drainNs({ kernelMs }: Beside): number {
    return Math.min(kernelMs, 10) * NS_PER_MS;
  }

  #windowNs(kernelMs: number): number {
    return Math.max(this.#windowMs * NS_PER_MS, LEAST_GAPS * gapsBeside(kernelMs).periodNs);
  }

  #probe(kernelMs: number, more: Partial<StartDelayRequest>): Task {
    return sessionTaskOf('startDelays', {
      windowNs: this.#windowNs(kernelMs),
      ...gapsBeside(kernelMs),
      quietNs: QUIET_NS,
      seed: this.#seed++,
      holdNs: 0,
      queued: 1,
      prioritised: false,
      ...more,
    });
  }

  #release<T>(tasks: ReadonlyMap<WorkerTenant, Task>): Promise<T[]> {
    return this.#scene.scene.releaseAll<T>(tasks, this.#windowMs + GRACE_MS);
  }
}

interface Played {
  measured: Row[];
  aloneMs: number[];
  priorities: PreemptionDetails['ownKernels'];
  /** What the mapping between the clocks of host and device leaves unexplained. */
  mappingResidualNs: number;
  entered: ReturnType<typeof contextOf>;
}

/**
 * The delay beside kernels of the same process in other streams, one of which runs while another waits: with equal
 * priorities, and with the highest and the lowest.
 */
async function ownRows(play: Play): Promise<PreemptionDetails['ownKernels']> {
  const own: PreemptionDetails['ownKernels'] = [];
  for (const priority of PRIORITIES) {
    const prioritised = priority === 'highest beside lowest';
    const head = { priority, kernelMs: HEADLINE.kernelMs, queued: 2 };
    try {
      const delays = await play.alone({ holdNs: HEADLINE.kernelMs * NS_PER_MS, queued: 2, prioritised });
      const met = delays.delayNs.filter((_, i) => (delays.ahead[i] as number) > 0).map((ns) => ns / NS_PER_MS);
      own.push({ ...head, ...figures(met), probes: delays.delayNs.length, cardFull: delays.cardFull });
    } catch (error) {
      const state = rowState(error);
      if (!state) throw error;
      own.push({ ...head, ...state });
    }
  }
  return own;
}

const figures = (delays: readonly number[]) =>
  delays.length === 0
    ? { p50Ms: null, p99Ms: null, worstMs: null }
    : {
        p50Ms: median(delays).value,
        p99Ms:
          delays.length >= 299
            ? ([...delays].sort((a, b) => a - b)[Math.ceil(0.99 * delays.length) - 1] ?? null)
            : null,
        worstMs: max([...delays]),
      };

async function play(context: MeasureContext, plan: PreemptionPlan): Promise<Played> {
  return inScene(context, async (scene) => {
    const [victim, other] = await scene.enterPair();
    const entered = contextOf(scene.scene);
    const measured = plan.rows.map((beside): Row => ({ ...beside, delays: [], probes: 0 }));
    const aloneMs: number[] = [];
    const playing = new Play(scene, [victim, other], plan.windowMs, context.options.seed);
    const alone = async () => void aloneMs.push(...(await playing.alone()).delayNs.map((ns) => ns / NS_PER_MS));
    for (let i = 0; i < plan.series; i++) {
      await alone();
      // The order alternates, so that drift affects all rows alike.
      for (const [place, row] of (i % 2 === 0 ? measured : [...measured].reverse()).entries()) {
        context.progress(`${row.queued} of ${row.kernelMs} ms`, (i + place / measured.length) / plan.series);
        await playing.beside(row, row);
      }
      await alone();
    }
    const priorities = await ownRows(playing);
    return { measured, aloneMs, priorities, mappingResidualNs: playing.residualNs, entered };
  });
}

const isHeadline = ({ kernelMs, queued }: Beside): boolean =>
  kernelMs === HEADLINE.kernelMs && queued === HEADLINE.queued;

/** Fits a line a + b·T to the delays beside kernels of length T: b is the number of kernels that are waited for. */
function fits(measured: readonly Row[]): PreemptionDetails['fits'] {
  return [...new Set(measured.map(({ queued }) => queued))].flatMap((queued) => {
    const own = measured.filter((row) => row.queued === queued && row.delays.length >= FEWEST_PROBES);
    if (own.length < 2) return [];
    const line = (of: (row: Row) => number) => theilSen(own.map((row) => ({ x: row.kernelMs, y: of(row) })));
    const [typical, worst] = [line(({ delays }) => median(delays).value), line(({ delays }) => max([...delays]))];
    return [
      {
        queued,
        p50: { aMs: typical.intercept, b: typical.slope },
        worst: { aMs: worst.intercept, b: worst.slope },
        lengths: own.length,
      },
    ];
  });
}

function checksOf(headline: Row): Check[] {
  const { delays, probes } = headline;
  return [
    {
      name: 'the other process was on the card',
      passed: probes > 0 && delays.length >= LEAST_RESIDENT * probes,
      detail: `at ${delays.length} of ${probes} launches, by the times of its kernels`,
    },
    {
      name: 'enough launches met its kernels',
      passed: delays.length >= FEWEST_PROBES,
      detail: `${delays.length}, at least ${FEWEST_PROBES}`,
    },
  ];
}

function judge({ measured, aloneMs, priorities, mappingResidualNs, entered }: Played): Measured<PreemptionDetails> {
  const headline = measured.find(isHeadline) as Row;
  const alone = median(aloneMs).value;
  const samples = Float64Array.from(headline.delays, (ms) => ms - alone);
  const checks = checksOf(headline);
  const found = {
    kernels: measured.map(({ delays, ...row }) => ({ ...row, met: delays.length, ...figures(delays) })),
    fits: fits(measured),
    alone: { ...figures(aloneMs), probes: aloneMs.length },
    ownKernels: priorities,
    mappingResidualNs,
    context: entered,
  };
  if (samples.length === 0)
    return { ...invalidBy(checks), value: null, ci95: null, headline: null, details: found, checks };
  return {
    ...invalidBy(checks),
    ...serialMedian(samples),
    ciScope: 'within-process',
    processes: 2,
    headline: samples,
    details: found,
    checks,
  };
}

/** With a given plan, for tests; without one the tier decides. */
export const preemptionLatencyBy =
  (plan?: PreemptionPlan): MetricDefinition<PreemptionDetails>['measure'] =>
  async (context) => {
    try {
      return judge(await play(context, plan ?? PLANS[context.options.tier]));
    } catch (error) {
      if (isOutOfMemory(error)) return unsupported(`two tenants do not fit: ${error.message}`);
      throw error;
    }
  };

/** Both axes are logarithmic: lengths and delays are from 0.1 to hundreds of ms. */
const delayChart = (queued: number, { name, y, fit }: { name: string; y: string; fit: string }): LineChart => ({
  title: `${name} delay beside another process that keeps ${queued === 1 ? 'one kernel' : `${queued} kernels`} queued`,
  axes: { x: 'ms of a kernel of the other process', y: 'delay, ms' },
  scales: { x: 'log', y: 'log' },
  rows: 'kernels',
  point: { x: 'kernelMs', y },
  where: { queued },
  fit: { rows: 'fits', field: fit, a: 'aMs', b: 'b', where: { queued } },
});

export const preemptionLatency: MetricDefinition<PreemptionDetails> = {
  id: 'SCHED-004',
  name: 'Preemption Latency',
  category: 'scheduling',
  unit: 'ms',
  direction: 'lower',
  question: 'What is the worst wait before a latency-critical request gets the GPU?',
  estimator: "median delay of a small kernel's start beside another process's kernels of 10 ms − alone",
  delta: { absolute: 0.3 },
  variesBecause: 'a wait ends with the time slice or the kernel that runs, and begins at any moment of it',
  needs: ['two tenants'],
  functionName: 'measurePreemption',
  where: 'fresh-processes',
  lineCharts: [
    delayChart(1, { name: 'Median', y: 'p50Ms', fit: 'p50' }),
    ...[1, 8, 64].map((queued) => delayChart(queued, { name: 'Longest', y: 'worstMs', fit: 'worst' })),
  ],
  details,
  seconds: { quick: 6, standard: 12, thorough: 160 },
  measure: preemptionLatencyBy(),
};

/**
 * SCHED-004, ms: how much later than alone a small kernel begins while another process's kernels of 10 ms fill the card.
 * `details.kernels[]` has one row per length and number of queued kernels; `details.fits[]` the line a + b·T through
 * them: b is 0 if the card is time-sliced or preempted, 1 if the small kernel waits for the running kernel, and the
 * number of queued kernels if it waits for the whole queue. `details.ownKernels[]` has two kernels of the same
 * process in other streams, with and without priority. `iterations` and `resolution` do not apply.
 */
export const measurePreemption = measureFunction(preemptionLatency);

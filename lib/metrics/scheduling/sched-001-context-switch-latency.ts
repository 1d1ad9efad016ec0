/** SCHED-001: how long a card is idle when it switches from one process to another, and how long each time slice is. */
import * as v from 'valibot';
import type { BlockTrace, ContextAlternation } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { summarise } from '../../stats/summary.js';
import { askSession, sessionTaskOf } from '../../workers/session-task.js';
import { count, described, interval, quantity, rowOrReason, rows } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import {
  invalidBy,
  type MeasureContext,
  type Measured,
  type MetricDefinition,
  unsupported,
  withoutNumber,
} from '../core/metric.js';
import { isOutOfMemory, rowState } from '../core/row-state.js';
import { summaryOf } from '../core/sample-summary.js';
import { FIRST_ID, inScene, type MetricScene } from '../tenants/scene.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import { NS_PER_MS, NS_PER_US } from '../core/units.js';
import { sliceDistribution, slicePoint, type Turns, turnsOf } from './turns-of-contexts.js';

const WINDOW_MS: Record<Tier, number> = { quick: 1_500, standard: 4_000, thorough: 20_000 };
/** If a warp does not see the timer for longer than this, it did not run in that time. */
const GAP_NS = 20_000;
/** Fewer switches do not show a distribution. */
const FEWEST_SWITCHES = 50;
/** Percentage of the shorter tenant's time in which both ran; above it, the contexts do not take turns. */
const MOST_AT_ONCE = 2;
/** A switch must last at least this many steps of the device's clock, or the clock is too coarse. */
const TICKS = 4;
const ALTERNATIONS: Record<Tier, number> = { quick: 500, standard: 2_000, thorough: 5_000 };
const GRACE_MS = 60_000;
/** Before and behind it the clocks of host and device are compared. */
const CLOCK_WINDOW = {
  windowNs: 50 * NS_PER_MS,
  periodNs: 10 * NS_PER_MS,
  jitterNs: 0,
  quietNs: 0,
  holdNs: 0,
  queued: 1,
  prioritised: false,
} as const;

const details = v.strictObject({
  windowMs: quantity('ms', 'For how long each process was to run its warp'),
  spanMs: quantity('ms', 'Time in which both were on the card'),
  switches: count('Switches from one process to the other'),
  sharePercent: described(
    v.tuple([quantity('%', 'Share of the first process'), quantity('%', 'Share of the second process')]),
    'Share of that time in which each process ran (%)',
  ),
  atOncePercent: v.nullable(
    quantity('%', 'Time in which both ran, of the time of the one that ran less; null if that is 0'),
  ),
  idlePauses: count('Pauses of one process in which the other did not run either'),
  tickNs: quantity('ns', "Step of the device's clock"),
  slices: v.nullable(described(summaryOf('ms'), 'Lengths of the time slices; null without a whole one')),
  sliceLengths: rows(slicePoint, 'Distribution of the lengths of the time slices'),
  clockDriftPpm: quantity('ppm', "Drift of the device's clock against the host's"),
  twoContextsOfAProcess: described(
    rowOrReason(
      {},
      {
        switchNs: quantity('ns', 'How much longer a launch takes if it alternates between contexts'),
        ci95: interval('ns', 'switchNs'),
        alternatingNs: quantity('ns', 'Median time of a launch that alternates'),
        stayingNs: quantity('ns', 'Median time of a launch that stays in its context'),
        launches: count('Launches of each kind'),
      },
    ),
    'What the host pays in one process with two contexts',
  ),
  context: v.optional(processContext),
});

export type ContextSwitchDetails = v.InferOutput<typeof details>;

/** What is known before the turns are. */
type Surroundings = Pick<ContextSwitchDetails, 'clockDriftPpm' | 'twoContextsOfAProcess' | 'context'>;

/** Runs one warp of each process for the whole time. */
async function trace(scene: MetricScene, windowMs: number): Promise<[BlockTrace, BlockTrace]> {
  const task = sessionTaskOf('blockTrace', {
    windowNs: 1,
    spinNs: windowMs * NS_PER_MS,
    gapNs: GAP_NS,
    blocks: 1,
    inFlight: 1,
  });
  const traces = await scene.scene.together<BlockTrace>(task, windowMs + GRACE_MS);
  return traces as [BlockTrace, BlockTrace];
}

/** Rejects where the device's clock is none: all times here are of it alone. */
async function deviceClock({ options }: MeasureContext, scene: MetricScene): Promise<number> {
  const [tenant] = scene.scene.workers;
  if (!tenant) throw new Error('unreachable: a tenant has entered');
  const { mapping } = await askSession(tenant, {
    name: 'startDelays',
    request: { ...CLOCK_WINDOW, startAtNs: 0, seed: options.seed },
    deadlineMs: GRACE_MS,
  });
  return mapping.driftPpm;
}

/** What the host pays in one process with two contexts. */
async function alternation(
  { options }: MeasureContext,
  scene: MetricScene,
): Promise<ContextSwitchDetails['twoContextsOfAProcess']> {
  const [tenant] = scene.scene.workers;
  if (!tenant) throw new Error('unreachable: a tenant has entered');
  const request = { count: ALTERNATIONS[options.tier] };
  try {
    const { alternatingNs, stayingNs }: ContextAlternation = await askSession(tenant, {
      name: 'contextAlternation',
      request,
      deadlineMs: GRACE_MS,
    });
    const difference = serialMedian(alternatingNs.map((ns, i) => ns - (stayingNs[i] as number)));
    return {
      switchNs: difference.value,
      ci95: difference.ci95,
      alternatingNs: median(alternatingNs).value,
      stayingNs: median(stayingNs).value,
      launches: alternatingNs.length,
    };
  } catch (error) {
    const state = rowState(error);
    if (!state) throw error;
    return state;
  }
}

function checksOf({ switchUs, tickNs }: Turns, value: number): Check[] {
  const early = switchUs.filter((us) => us < 0).length;
  return [
    {
      name: 'the clock is fine enough',
      passed: tickNs <= (value * NS_PER_US) / TICKS,
      detail: `steps of ${tickNs} ns, a switch takes ${(value * NS_PER_US).toFixed(0)} ns`,
    },
    { name: 'no turn began before the last one ended', passed: early === 0, detail: `${early} of ${switchUs.length}` },
  ];
}

function judge(
  traces: [BlockTrace, BlockTrace],
  windowMs: number,
  surroundings: Surroundings,
): Measured<ContextSwitchDetails> {
  const turns = turnsOf(traces);
  if (!turns) return withoutNumber('invalid', 'the two tenants were not on the card at the same time', surroundings);
  const { switchUs, sliceMs, atOncePercent } = turns;
  const samples = Float64Array.from(switchUs);
  const found = {
    windowMs,
    spanMs: turns.spanMs,
    switches: switchUs.length,
    sharePercent: turns.sharePercent,
    atOncePercent,
    idlePauses: turns.idlePauses,
    tickNs: turns.tickNs,
    slices: sliceMs.length > 0 ? summarise(Float64Array.from(sliceMs)) : null,
    sliceLengths: sliceDistribution(sliceMs),
    ...surroundings,
  };
  if (atOncePercent !== null && atOncePercent > MOST_AT_ONCE)
    return unsupported('contexts run concurrently: there is no switch between them', found);
  if (switchUs.length < FEWEST_SWITCHES)
    return withoutNumber(
      'invalid',
      `only ${switchUs.length} switches were seen in ${turns.spanMs.toFixed(0)} ms; at least ${FEWEST_SWITCHES} are needed`,
      found,
    );
  const { value, ci95 } = serialMedian(samples);
  const checks = checksOf(turns, value);
  return {
    ...invalidBy(checks),
    value,
    ci95,
    ciScope: 'within-process',
    processes: 2,
    headline: samples,
    details: found,
    checks,
  };
}

/** With a given window, for tests; without one the tier decides. */
export const contextSwitchBy =
  (ownWindowMs?: number): MetricDefinition<ContextSwitchDetails>['measure'] =>
  async (context) => {
    const windowMs = ownWindowMs ?? WINDOW_MS[context.options.tier];
    try {
      return await inScene(context, async (scene) => {
        await scene.enterAll([{ id: FIRST_ID }, { id: FIRST_ID + 1 }]);
        const clockDriftPpm = await deviceClock(context, scene);
        context.progress('a warp in each process', 0.1);
        const traces = await trace(scene, windowMs);
        context.progress('two contexts of a process', 0.9);
        const contexts = await alternation(context, scene);
        const entered = contextOf(scene.scene);
        return judge(traces, windowMs, { clockDriftPpm, twoContextsOfAProcess: contexts, context: entered });
      });
    } catch (error) {
      if (isOutOfMemory(error)) return unsupported(`two tenants do not fit: ${error.message}`);
      throw error;
    }
  };

export const contextSwitchLatency: MetricDefinition<ContextSwitchDetails> = {
  id: 'SCHED-001',
  name: 'Context Switch Latency',
  category: 'scheduling',
  unit: 'us',
  direction: 'lower',
  question: 'What does time-slicing itself cost, and how long is a slice really?',
  estimator: 'median over switches of the time from the last stamp of one process to the first of the other',
  delta: { relative: 0.1 },
  needs: ['two tenants', 'contexts that take turns'],
  functionName: 'measureContextSwitch',
  where: 'fresh-processes',
  lineCharts: [
    {
      title: 'Length of time slices: how many are no longer than that',
      axes: { x: 'ms', y: '% of the slices' },
      rows: 'sliceLengths',
      point: { x: 'ms', y: 'percent' },
      by: 'percent',
    },
  ],
  details,
  seconds: { quick: 4, standard: 7, thorough: 25 },
  measure: contextSwitchBy(),
};

/**
 * SCHED-001, µs: how long a card is idle when it switches from one process to another, seen by one warp of each that
 * stays resident. `details.sliceLengths[]` is the distribution of slice lengths, `details.sharePercent` the share of
 * each process, `details.twoContextsOfAProcess` the host's cost of launching alternately in two contexts. `unsupported`
 * if contexts run concurrently. `iterations` and `resolution` do not apply.
 */
export const measureContextSwitch = measureFunction(contextSwitchLatency);

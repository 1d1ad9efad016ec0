/** IS-015: what a tenant learns of its neighbour's activity from the time that its own loads and calls take. */
import * as v from 'valibot';
import type { Aggression, AggressorKind, Timings } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import {
  bestClassifier,
  bitsOf,
  chanceOf,
  type Errors,
  errorInterval,
  errorsOf,
  leastChance,
  type Slot,
} from '../../stats/channel.js';
import { quantile } from '../../stats/quantile.js';
import { shuffled } from '../../stats/random.js';
import type { Scene } from '../../workers/scene.js';
import { sessionTaskOf } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { choice, count, described, interval, quantity, rows, text } from '../core/details.js';
import { outside } from '../core/impossible.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, withoutNumber } from '../core/metric.js';
import { unlessFull } from '../core/row-state.js';
import { NS_PER_MS } from '../core/units.js';
import { inScene } from '../tenants/scene.js';
import { contextOf, processContext } from '../tenants/tenants.js';

type Activity = Extract<AggressorKind, 'launchStorm' | 'allocStorm' | 'contextStorm' | 'copyToDevice'>;

const ACTIVITIES: Readonly<Record<Activity, string>> = {
  launchStorm: 'launches',
  allocStorm: 'allocations',
  contextStorm: 'context creation',
  copyToDevice: 'copies to the device',
};
const ALL_ACTIVITIES = Object.keys(ACTIVITIES) as Activity[];

const SERIES = {
  volatileCycles: 'ld.global.cv',
  acquireCycles: 'ld.acquire.sys',
  launchNs: 'cuLaunchKernel',
  syncNs: 'cuCtxSynchronize',
} as const;
type Series = keyof typeof SERIES;
/** Quantiles do not grow with the number of samples, which a busy neighbour changes. */
const QUANTILES = { median: 0.5, '90th percentile': 0.9 } as const;
const SIGNALS = (Object.keys(SERIES) as Series[]).flatMap((series) =>
  Object.entries(QUANTILES).map(([name, p]) => ({ name: `${SERIES[series]}, ${name}`, series, p })),
);

export interface ChannelPlan {
  /** Slots of each kind, half of them for training. */
  slotsEach: number;
  slotMs: number;
  /** Most time before a slot, in which a neighbour makes ready, as a multiple of the usual one. */
  mostLeads: number;
  /** The series that the observer looks at. Default: all. */
  series?: readonly Series[];
  /** Default: all. */
  activities?: readonly Activity[];
}

const SLOTS: Record<Tier, number> = { quick: 8, standard: 24, thorough: 100 };
const REAL = { slotMs: 100, mostLeads: 12 };
const SIMULATED = { slotMs: 20, mostLeads: 12 };
const PERIOD_NS = 500_000;
/** Part of a slot by which one of the two may begin late. */
const LATE = 0.1;
/** Part of the slots that may nevertheless begin late. */
const MOST_LATE = 0.25;
const GRACE_MS = 120_000;
/** The channel is closed if less than this many bits a second pass. */
const CLOSED_BELOW = 1;
/** Chance makes a control that distinguishes nothing look as if it did this often. */
const CONTROL_P = 0.001;

const channel = {
  correct: quantity('%', 'Slots of the test half in which the observer is right'),
  chance: quantity('%', 'The same on average after the labels were permuted'),
  p: quantity('1', 'How likely permuted labels give as few errors'),
  bitsPerSecond: quantity('bits/s', '1 − H(error), times the slots in a second'),
  ci95: interval('bits/s', 'bitsPerSecond'),
};

const details = v.strictObject({
  verdict: choice(
    ['passes', 'fails', 'inconclusive'],
    `Below ${CLOSED_BELOW} bit/s with all of the interval: passes; else above 0 with all of it: fails`,
  ),
  activity: text('What the neighbour does in the channel that the training half chose'),
  activities: rows(
    v.strictObject({
      activity: text('What the neighbour does in half of the slots; it is idle in the others'),
      signal: text("What the observer looks at, and which part of a slot's values"),
      testSlots: count('Slots of the test half'),
      ...channel,
      control: described(v.strictObject(channel), 'The same sequence while the neighbour does nothing'),
    }),
    'A row per activity',
  ),
  missing: rows(
    v.strictObject({ activity: text('What the neighbour could not do'), reason: text('Why') }),
    'Activities without a row',
  ),
  slotMs: quantity('ms', 'Length of a slot'),
  slots: count('Slots, each half of them for training and for testing'),
  seed: count("Seed of the neighbour's order"),
  context: v.optional(processContext),
});

export type TimingChannelDetails = v.InferOutput<typeof details>;
type Row = TimingChannelDetails['activities'][number];

interface Seen {
  kind: Activity | null;
  signals: number[];
}

/** Both halves of the neighbour's order, and what the victim saw in each slot. */
type Halves = [training: Seen[], test: Seen[]];

export interface Played {
  halves: Halves;
  control: Halves;
  /** Slots of both that began late. */
  late: number;
  missing: ReadonlyMap<Activity, string>;
  entered: ReturnType<typeof contextOf>;
}

const kindsOf = ({ activities = ALL_ACTIVITIES }: ChannelPlan): readonly (Activity | null)[] => [null, ...activities];

function orderOf(plan: ChannelPlan, seed: number): (Activity | null)[][] {
  const half = kindsOf(plan).flatMap((kind) => Array.from({ length: Math.ceil(plan.slotsEach / 2) }, () => kind));
  return [shuffled(half, seed), shuffled(half, seed + 1)];
}

const signalsOf = (timings: Pick<Timings, Series>, series: readonly Series[]): number[] =>
  SIGNALS.filter((signal) => series.includes(signal.series)).map((signal) =>
    quantile(
      [...timings[signal.series]].sort((a, b) => a - b),
      signal.p,
    ),
  );

const ALL_SERIES = Object.keys(SERIES) as Series[];

class ChannelPlay {
  readonly missing = new Map<Activity, string>();
  /** Operations that were over within a slot. */
  readonly operations = new Map<Activity, number>();
  late = 0;
  #leads = 1;

  constructor(
    private readonly scene: Scene,
    private readonly victim: WorkerTenant,
    private readonly neighbour: WorkerTenant,
    private readonly plan: ChannelPlan,
  ) {}

  async half(order: readonly (Activity | null)[], isSilent: boolean, done: () => void): Promise<Seen[]> {
    const seen: Seen[] = [];
    for (const kind of order) {
      const timings = await this.#slot(isSilent ? null : kind);
      if (timings) seen.push({ kind, signals: signalsOf(timings, this.plan.series ?? ALL_SERIES) });
      done();
    }
    return seen;
  }

  /** Loads what every activity needs, which takes longest the first time. */
  async rehearse(): Promise<void> {
    for (const kind of kindsOf(this.plan)) await this.#slot(kind);
    this.operations.clear();
    this.late = 0;
  }

  /** Null if the neighbour could not do it. From a late slot on, all have more time to make ready. */
  async #slot(kind: Activity | null): Promise<Timings | null> {
    for (;;) {
      if (kind && this.missing.has(kind)) return null;
      const [watched, worked] = await this.#together(kind);
      const isLate = Math.max(watched.startedNs, worked?.startedNs ?? 0) > LATE * this.plan.slotMs * NS_PER_MS;
      if (isLate && this.#leads < this.plan.mostLeads) {
        this.#leads++;
        continue;
      }
      if (isLate) this.late++;
      if (kind && worked) this.#note(kind, worked);
      return worked?.missing ? null : watched;
    }
  }

  /** The victim's task is the same in every slot. */
  async #together(kind: Activity | null): Promise<[Timings, Aggression?]> {
    const windowNs = this.plan.slotMs * NS_PER_MS;
    const tasks = new Map([[this.victim, sessionTaskOf('probeTiming', { windowNs, periodNs: PERIOD_NS })]]);
    if (kind) tasks.set(this.neighbour, sessionTaskOf('aggressor', { kind, windowNs, quotaBytes: 0 }));
    const deadlineMs = this.plan.slotMs + GRACE_MS;
    return (await this.scene.releaseAll<unknown>(tasks, deadlineMs, this.#leads)) as [Timings, Aggression?];
  }

  #note(kind: Activity, { missing, operations }: Aggression): void {
    if (missing !== null) this.missing.set(kind, missing);
    this.operations.set(kind, (this.operations.get(kind) ?? 0) + operations);
  }
}

function play(context: MeasureContext, plan: ChannelPlan): Promise<Played> {
  return inScene(context, async (scene) => {
    const [victim, neighbour] = await scene.enterPair();
    const order = orderOf(plan, context.options.seed);
    const played = new ChannelPlay(scene.scene, victim, neighbour, plan);
    await played.rehearse();
    const all = 4 * (order[0]?.length ?? 0);
    let slots = 0;
    const run = async (isSilent: boolean): Promise<Halves> => {
      const halves: Seen[][] = [];
      for (const half of order)
        halves.push(
          await played.half(half, isSilent, () =>
            context.progress(isSilent ? 'a silent neighbour' : 'a neighbour in a secret order', ++slots / all),
          ),
        );
      return halves as Halves;
    };
    const halves = await run(false);
    const control = await run(true);
    for (const [kind, operations] of played.operations)
      if (operations === 0 && !played.missing.has(kind))
        played.missing.set(kind, 'none of its operations was over in a slot');
    return { halves, control, late: played.late, missing: played.missing, entered: contextOf(scene.scene) };
  });
}

const between = (seen: readonly Seen[], activity: Activity): Slot[] =>
  seen
    .filter(({ kind }) => kind === null || kind === activity)
    .map(({ kind, signals }) => ({ signals, secret: kind !== null }));

function channelOf([training, test]: Halves, activity: Activity, plan: ChannelPlan, seed: number) {
  const classifier = bestClassifier(between(training, activity));
  const slots = between(test, activity);
  const errors: Errors = errorsOf(classifier, slots);
  const perSecond = 1_000 / plan.slotMs;
  const [low, high] = errorInterval(errors);
  const { error, p } = chanceOf(classifier, slots, seed);
  return {
    classifier,
    slots: errors.slots,
    found: {
      correct: 100 * (1 - errors.wrong / errors.slots),
      chance: 100 * (1 - error),
      p,
      bitsPerSecond: perSecond * bitsOf(errors.wrong / errors.slots),
      ci95: [perSecond * bitsOf(high), perSecond * bitsOf(low)] as [number, number],
    },
  };
}

const verdictOf = ([low, high]: readonly [number, number]): TimingChannelDetails['verdict'] =>
  high < CLOSED_BELOW ? 'passes' : low > 0 ? 'fails' : 'inconclusive';

/** What the slots show. */
export function judge(
  { halves, control, late, missing, entered }: Played,
  plan: ChannelPlan,
  seed: number,
): Measured<TimingChannelDetails> {
  const done = (plan.activities ?? ALL_ACTIVITIES).filter((activity) => !missing.has(activity));
  const signals = SIGNALS.filter(({ series }) => (plan.series ?? ALL_SERIES).includes(series));
  const channels = done.map((activity) => {
    const own = channelOf(halves, activity, plan, seed);
    const silent = channelOf(control, activity, plan, seed);
    const row: Row = {
      activity: ACTIVITIES[activity],
      signal: signals[own.classifier.signal]?.name ?? '',
      testSlots: own.slots,
      ...own.found,
      control: silent.found,
    };
    return { row, trained: own.classifier.wrong };
  });
  const reasons = [...missing].map(([activity, reason]) => ({ activity: ACTIVITIES[activity], reason }));
  const [first, ...others] = channels;
  if (!first) {
    const reason = `the neighbour did nothing: ${reasons.map((one) => `${one.activity}: ${one.reason}`).join('; ')}`;
    return withoutNumber('invalid', reason, { missing: reasons });
  }
  const { row: chosen } = others.reduce((best, one) => (one.trained < best.trained ? one : best), first);
  const least = Math.min(...channels.map(({ row }) => row.control.p));
  const slots = halves.flat().length;
  const checks: Check[] = [
    {
      name: 'slots began in time',
      passed: late <= 2 * MOST_LATE * slots,
      detail: `${late} of ${2 * slots} began late`,
    },
    {
      name: 'a silent neighbour is not seen',
      // With few slots, no control is unlikely enough.
      passed: leastChance(chosen.testSlots) > CONTROL_P ? 'not checked' : least > CONTROL_P,
      detail: `permuted labels give as few errors with a probability of ${least.toPrecision(2)} and more`,
    },
    {
      name: 'the neighbour did everything',
      passed: reasons.length === 0 ? true : 'not checked',
      detail: reasons.map((one) => `${one.activity}: ${one.reason}`).join('; ') || `${done.length} activities`,
    },
  ];
  const ci95 = chosen.ci95 as [number, number];
  return {
    ...invalidBy(checks),
    value: chosen.bitsPerSecond,
    ci95,
    ciScope: 'within-process',
    processes: 2,
    headline: null,
    details: {
      verdict: verdictOf(ci95),
      activity: chosen.activity,
      activities: channels.map(({ row }) => row),
      missing: reasons,
      slotMs: plan.slotMs,
      slots,
      seed,
      context: entered,
    },
    checks,
  };
}

/** A slot tells one bit at most. */
const impossible: MetricDefinition['impossible'] = (own) => outside(0, 1_000 / Number(own.details.slotMs))(own);

/** With a given plan, for tests; without one the tier decides. */
export const timingChannelBy =
  (plan?: ChannelPlan): MetricDefinition<TimingChannelDetails>['measure'] =>
  (context) => {
    const { tier, seed } = context.options;
    const times = context.simulatedDriver === null ? REAL : SIMULATED;
    const own = plan ?? { slotsEach: SLOTS[tier], ...times };
    return unlessFull(
      'two tenants',
      play(context, own).then((played) => judge(played, own, seed)),
    );
  };

export const timingChannel: MetricDefinition<TimingChannelDetails> = {
  id: 'IS-015',
  name: 'Timing Channel',
  category: 'isolation',
  unit: 'bits/s',
  direction: 'lower',
  question: 'Does a tenant learn what its neighbour does?',
  estimator:
    '(1 − H(error)) ÷ slot: an observer of the own latencies tells whether the neighbour is at work, by a threshold that other slots chose',
  delta: { absolute: 1 },
  needs: ['two tenants'],
  functionName: 'measureTimingChannel',
  where: 'fresh-processes',
  details,
  seconds: { quick: 16, standard: 45, thorough: 190 },
  impossible,
  measure: timingChannelBy(),
};

/**
 * IS-015, bits/s: what a tenant learns of a neighbour that in a secret order idles, launches, allocates, creates contexts
 * or copies, from the latencies of its own strong loads, launches and waits. One threshold is chosen on half of the slots
 * and judged on the other half; a slot of 100 ms carries 10 bits/s at most. `details.verdict`: it passes with all of the
 * interval below 1 bit/s, else fails with all of it above 0; tiers below `thorough` find channels and seldom exclude
 * them. `details.activities[]` has each activity and its control. `iterations`, `warmup` and `resolution` do not apply.
 */
export const measureTimingChannel = measureFunction(timingChannel);

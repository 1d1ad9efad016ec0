/** IS-004: how long a tenant that was idle exceeds its compute limit when it starts to work. */
import * as v from 'valibot';
import { described, quantity, text } from '../core/details.js';
import { limitPercent as limitField, shareLines } from './share-fields.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tier } from '../../results/document.js';
import { type MeasureContext, type MetricDefinition, unsupported, withoutNumber } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { exceeded } from './shared/exceeded.js';
import { LIMIT_TOLERANCE } from '../../results/limit-tolerance.js';
import { BACK_TO_BACK } from './shared/load-shapes.js';
import { changeLive, type LiveChange, liveChangeFields } from './shared/live-change.js';
import { type Settling, settling, STAY_MS } from './shared/settling.js';
import {
  ownLimit,
  rateOf,
  type Reference,
  referenceField,
  referenceOf,
  runLoad,
  sharesPercent,
  withLimits,
  withoutLimits,
} from './tenant-load.js';

const BIN_MS = 20;
const FREE_MS = 400;

interface ResponsePlan {
  idleMs: number;
  /** The latest time to settle; it is watched longer, to see that it stays. */
  horizonMs: number;
  /** Whether the limit is changed while the tenant runs. */
  live: boolean;
}

const PLANS: Record<Tier, ResponsePlan> = {
  quick: { idleMs: 300, horizonMs: 1_000, live: false },
  standard: { idleMs: 2_000, horizonMs: 10_000, live: true },
  thorough: { idleMs: 5_000, horizonMs: 30_000, live: true },
};

interface Response {
  percent: number[];
  multiprocessors: number;
  settled: Settling;
  live: LiveChange | string;
}

async function measureResponse(
  context: MeasureContext,
  { limitPercent, reference, plan }: { limitPercent: number; reference: Reference; plan: ResponsePlan },
): Promise<Response | string> {
  const { signal, progress } = context;
  const bins = (plan.horizonMs + STAY_MS) / BIN_MS;
  progress('without a limit', 0);
  const free = await withoutLimits(context, reference, (worker) =>
    runLoad(worker, BACK_TO_BACK, { durationMs: FREE_MS, binMs: BIN_MS }),
  );
  // The first and the last bin cover only part of their time.
  const times = { durationMs: (bins + 2) * BIN_MS, binMs: BIN_MS, rounds: free.rounds };
  return withLimits(context, { smPercent: limitPercent }, async (worker) => {
    const why = worker.attestation.computeLimitUnsupported;
    if (why !== undefined) return why;
    progress('idle', 0.2);
    await sleep(plan.idleMs, undefined, { signal });
    progress('work after idling', 0.3);
    const load = await runLoad(worker, BACK_TO_BACK, times);
    const percent = sharesPercent(load, BIN_MS, rateOf(free)).slice(0, bins);
    const settled = settling({ binMs: BIN_MS, percent }, limitPercent);
    progress('another limit', 0.7);
    const change = { fromPercent: limitPercent, free, times, bins };
    const live = whyNotLive(plan, settled) ?? (await changeLive(context, worker, change));
    return { percent, multiprocessors: free.multiprocessorsUsed.length, settled, live };
  });
}

function whyNotLive({ live }: ResponsePlan, { afterMs }: Settling): string | null {
  if (!live) return 'not measured at tier quick';
  return afterMs === null ? 'the share did not settle before the limit could be changed' : null;
}

const shareLine = (name: string, limitPercent: number, percent: readonly number[]) => ({
  name,
  limitPercent,
  binMs: BIN_MS,
  percent: percent.map((share) => Math.round(10 * share) / 10),
});

function liveDetails(live: LiveChange | string) {
  if (typeof live === 'string') return { liveChange: { unsupported: live }, lines: [] };
  const { percent, ...liveChange } = live;
  return { liveChange, lines: [shareLine(`limit changed to ${live.toPercent} %`, live.toPercent, percent)] };
}

/** With a given plan, for tests; without one the tier decides. */
export const limitResponseBy =
  (plan?: ResponsePlan): MetricDefinition<LimitResponseDetails>['measure'] =>
  async (context) => {
    const limitPercent = ownLimit(context.system);
    if (limitPercent === null) return unsupported('no compute limit is set');
    const reference = referenceOf(context.system, { smPercent: limitPercent });
    const chosen = plan ?? PLANS[context.options.tier];
    const response = await measureResponse(context, { limitPercent, reference, plan: chosen });
    if (typeof response === 'string') return unsupported(response);
    const { percent, multiprocessors, settled, live } = response;
    const { afterMs, observedMs, overshootPercentSeconds } = settled;
    const { liveChange, lines } = liveDetails(live);
    const found = {
      limitPercent,
      reference,
      observedMs,
      settledAfterMs: afterMs,
      overshootSmSeconds: (overshootPercentSeconds / 100) * multiprocessors,
      shares: [shareLine(BACK_TO_BACK.name, limitPercent, percent), ...lines],
      liveChange,
    };
    if (afterMs === null) {
      const late = lateShare(percent);
      const when = `the last of ${(observedMs + STAY_MS) / 1_000} s after it was idle`;
      const violations = exceeded(late, limitPercent, when);
      return { ...withoutNumber('failed', censored(observedMs, limitPercent, late), found), violations };
    }
    return { value: afterMs, ci95: null, headline: null, processes: 2, details: found, checks: [] };
  };

const details = v.strictObject({
  limitPercent: limitField,
  reference: referenceField,
  observedMs: quantity('ms', 'The latest time at which the share could have settled'),
  settledAfterMs: v.nullable(quantity('ms', 'When it settled; null: not in that time')),
  overshootSmSeconds: quantity('SM s', 'Excess over the limit before it settled'),
  shares: shareLines,
  liveChange: described(
    v.union([liveChangeFields, v.strictObject({ unsupported: text('Why the limit was not changed') })]),
    'The limit is changed while the tenant runs',
  ),
});

export type LimitResponseDetails = v.InferOutput<typeof details>;

export const smLimitResponse: MetricDefinition<LimitResponseDetails> = {
  id: 'IS-004',
  name: 'SM Limit Response Time',
  category: 'isolation',
  unit: 'ms',
  direction: 'lower',
  question: 'How long can a tenant exceed its compute limit after it was idle?',
  estimator: 'first time after which the average share of 500 ms stays within 10 % of the limit for 2 s',
  delta: { absolute: 100 },
  needs: ['a system with a compute limit', 'fresh processes'],
  functionName: 'measureLimitResponse',
  where: 'fresh-processes',
  details,
  seconds: { quick: 6, standard: 31, thorough: 75 },
  measure: limitResponseBy(),
};

/** In the last second. */
function lateShare(percent: readonly number[]): number {
  const late = percent.slice(-Math.round(1_000 / BIN_MS));
  return late.reduce((sum, value) => sum + value, 0) / late.length;
}

const censored = (observedMs: number, limitPercent: number, latePercent: number): string =>
  `> ${observedMs / 1_000} s: the share did not settle within ${100 * LIMIT_TOLERANCE} % of the limit of ${limitPercent} %; in the last second it was ${latePercent.toFixed(1)} %`;

/**
 * IS-004, ms: from the first kernel of a tenant that was idle until its share stays at its compute limit. It needs a
 * system that sets limits: in the current environment it is `unsupported`; use `compareSystems`.
 */
export const measureLimitResponse = measureFunction(smLimitResponse);

/** Measures a victim and an aggressor, each alone and both together, for every aggressor of the menu. */
import * as v from 'valibot';
import { count, described, flag, interval, quantity, text } from '../../core/details.js';
import { messageOf } from '../../../errors/message-of.js';
import type { Aggression, Requests } from '../../../native/addon-types.js';
import { ratioInterval } from '../../../stats/rule/combined.js';
import { ALPHA, type AtLevel } from '../../../stats/largest.js';
import { serialMedian } from '../../../stats/serial.js';
import { sessionTaskOf } from '../../../workers/session-task.js';
import { type Activity, overlap, overlapAtWork } from '../../../workers/activity.js';
import { WorkerEnded } from '../../../workers/worker.js';
import type { Task, WorkerTenant } from '../../../workers/worker-tenant.js';
import type { MetricScene } from '../../tenants/scene.js';
import { FIRST_ID } from '../../tenants/scene.js';
import { type Aggressor, idleReason, rateOf } from './aggressor-menu.js';
import { changePercent, clockDropPercent, interferencePercent, lossPercent } from '../../../stats/interference.js';
import {
  deviceMs,
  isOverloaded,
  p50Ms,
  p99Ms,
  pooled,
  type Served,
  servedIn,
  VICTIM,
  VICTIM_NAME,
} from '../victim-requests.js';
import { NS_PER_MS } from '../../core/units.js';

export interface Times {
  aloneMs: number;
  togetherMs: number;
  aggressorAloneMs: number;
  /** Blocks with both, between two blocks with one. */
  together: number;
}

/** Schema of a row. */
export const interferenceRow = v.strictObject({
  victim: text('The tenant that serves requests'),
  aggressor: text('Its neighbour'),
  degradationPercent: v.nullable(
    quantity('%', "Increase of the victim's median latency; null if the aggressor did not run"),
  ),
  reason: v.optional(text('Why it did not run')),
  died: v.optional(flag("Whether the aggressor's process ended, by itself or killed from outside")),
  degradationCi95: v.optional(interval('%', 'degradationPercent')),
  p99Percent: v.optional(
    v.nullable(quantity('%', 'Increase of the 99th percentile of the latency; null with too few requests')),
  ),
  devicePercent: v.optional(
    v.nullable(quantity('%', "Increase of a request's median time on the device; null if none was served")),
  ),
  throughputLossPercent: v.optional(quantity('%', 'Decrease of the requests that were done in time')),
  requests: v.optional(count('Requests that arrived beside the aggressor')),
  givenUp: v.optional(count('Requests that were dropped: their latencies are lower bounds')),
  overloaded: v.optional(
    flag('Whether requests arrived faster than they were served: latencies then grow with the time of measurement'),
  ),
  interferencePercent: v.optional(
    v.nullable(
      quantity(
        '%',
        '0 if the common work took as long as the longer part alone, 100 if as long as both one after the other; null if one did nothing, or the aggressor was held back alone',
      ),
    ),
  ),
  clockDropPercent: v.optional(
    v.nullable(quantity('%', 'Decrease of the SM clock beside the aggressor; null if NVML does not report it')),
  ),
  aggressorPerSecond: v.optional(
    described(
      v.strictObject({
        alone: quantity('1/s', 'Alone'),
        together: quantity('1/s', 'Beside the victim'),
      }),
      'Operations of the aggressor per second',
    ),
  ),
  aggressorLossPercent: v.optional(
    v.nullable(quantity('%', 'Decrease of these; null if the aggressor was held back alone')),
  ),
  allocations: v.optional(
    described(
      v.strictObject({
        refused: count('Refused'),
        aboveQuota: count('Granted although larger than the quota'),
      }),
      'Allocations of the aggressor',
    ),
  ),
  cardFull: v.optional(
    flag('Long kernels alone: whether nothing else of their process could begin beside them; left out if not seen'),
  ),
  usedBytes: v.optional(count('Most device memory that the aggressor held while the victim ran (bytes)')),
});

export type InterferenceRow = v.InferOutput<typeof interferenceRow>;

/** Why an aggressor has no number. */
interface Missing {
  reason: string;
  died?: true;
}

const AGGRESSOR_ID = FIRST_ID + 1;
const GRACE_MS = 120_000;
/** Fraction of the window: how long requests that arrived in it are still served, with the aggressor running. */
const OVERRUN = 0.25;
/**
 * The same time without an aggressor. It costs nothing if requests are served in time, and lets a client that was
 * stopped catch up.
 */
const ALONE_GRACE_MS = 250;
/** The aggressor keeps running while the card's clock is read. */
const TAIL_MS = 50;
/** Time until the aggressor's first work reaches the card. */
const RAMP_NS = 20e6;
const FEWEST_REQUESTS = 10;
/**
 * An aggressor that is this many times faster beside the victim than alone was held back while it was alone, e.g. by a
 * compute limit: its rate alone is then no reference.
 */
const HELD_BACK = 2;

export interface Together {
  served: Served;
  rate: number;
  spanNs: number;
  aggression: Aggression;
}

export class NeighbourPlay {
  readonly #scene: MetricScene;
  readonly #times: Times;
  readonly #quotaBytes: number;
  #victim: WorkerTenant | null = null;
  #aggressor: WorkerTenant | null = null;
  #rounds = 0;
  /** Every block of the victim alone, in order. */
  readonly alone: Served[] = [];
  /** The degradation beside each aggressor that ran. */
  readonly degradations = new Map<string, AtLevel>();

  constructor(scene: MetricScene, times: Times, quotaBytes: number) {
    this.#scene = scene;
    this.#times = times;
    this.#quotaBytes = quotaBytes;
  }

  /** Both hold a session from here on; only the victim calibrates the work of a request. */
  async enter(): Promise<readonly [WorkerTenant, WorkerTenant]> {
    const [victim, aggressor] = await this.#scene.enterPair();
    this.#victim = victim;
    await this.#becomes(aggressor);
    const { rounds } = await this.#serveAlone(victim, VICTIM.periodNs / NS_PER_MS);
    this.#rounds = rounds;
    return [victim, aggressor];
  }

  async serveAlone(): Promise<void> {
    const { aloneMs } = this.#times;
    const requests = await this.#serveAlone(this.#victim as WorkerTenant, aloneMs);
    this.alone.push(servedIn(requests, 0, aloneMs * NS_PER_MS));
  }

  /** The aggressor alone, beside the victim, and the victim alone again. */
  async item(aggressor: Aggressor): Promise<InterferenceRow> {
    const row = await this.#item(aggressor);
    return { victim: VICTIM_NAME, aggressor: aggressor.name, ...row };
  }

  async #item(aggressor: Aggressor): Promise<Omit<InterferenceRow, 'victim' | 'aggressor'>> {
    const nothing = ({ reason, died }: Missing) => ({ degradationPercent: null, reason, ...(died && { died }) });
    const alone = await this.#attackAlone(aggressor);
    if ('reason' in alone) return nothing(alone);
    const before = this.alone.at(-1) as Served;
    const blocks: Together[] = [];
    for (let i = 0; i < this.#times.together; i++) {
      const block = await this.#together(aggressor);
      if ('reason' in block) return nothing(block);
      blocks.push(block);
    }
    await this.serveAlone();
    const around = [before, this.alone.at(-1) as Served];
    this.degradations.set(aggressor.name, degradationOf(pooled(around), pooled(blocks.map(({ served }) => served))));
    const { rate, cardFull } = alone;
    return { ...rowOf(around, blocks, rate), ...(cardFull !== undefined && { cardFull }) };
  }

  async #enterAggressor(): Promise<WorkerTenant> {
    const aggressor = await this.#scene.enter({ id: AGGRESSOR_ID }, 'aggressor');
    await this.#becomes(aggressor);
    return aggressor;
  }

  /** Its work may end its process, so it is proven first. */
  async #becomes(aggressor: WorkerTenant): Promise<void> {
    await this.#scene.prove(aggressor);
    this.#aggressor = aggressor;
  }

  async #serveAlone(victim: WorkerTenant, windowMs: number): Promise<Requests> {
    const [served] = await this.#release<Requests>(
      new Map([[victim, this.#requests(windowMs, ALONE_GRACE_MS)]]),
      windowMs,
    );
    return fulfilled(served);
  }

  async #attackAlone(aggressor: Aggressor): Promise<({ rate: number } & Pick<Aggression, 'cardFull'>) | Missing> {
    const { aggressorAloneMs: ms } = this.#times;
    const tenant = this.#aggressor ?? (await this.#enterAggressor());
    const [outcome] = await this.#release<Aggression>(new Map([[tenant, this.#attack(aggressor, ms)]]), ms);
    const aggression = await this.#ofAggressor(outcome, tenant);
    if ('reason' in aggression) return aggression;
    const { cardFull } = aggression;
    return { rate: rateOf(aggression) as number, ...(cardFull !== undefined && { cardFull }) };
  }

  async #together(aggressor: Aggressor): Promise<Together | Missing> {
    const { togetherMs } = this.#times;
    const longest = togetherMs * (1 + OVERRUN) + TAIL_MS;
    const victim = this.#victim as WorkerTenant;
    const tenant = this.#aggressor ?? (await this.#enterAggressor());
    const tasks = new Map<WorkerTenant, Task>([
      [tenant, this.#attack(aggressor, longest)],
      [victim, this.#requests(togetherMs, togetherMs * OVERRUN)],
    ]);
    const [attack, serve] = await this.#release<unknown>(tasks, longest);
    const requests = fulfilled(serve) as Requests;
    const aggression = await this.#ofAggressor(attack as PromiseSettledResult<Aggression>, tenant);
    if ('reason' in aggression) return aggression;
    return beside(requests, aggression, togetherMs * NS_PER_MS);
  }

  /** If it failed, its number is missing; if it died, another one replaces it for the remaining aggressors. */
  async #ofAggressor(
    outcome: PromiseSettledResult<Aggression> | undefined,
    tenant: WorkerTenant,
  ): Promise<Aggression | Missing> {
    if (outcome?.status !== 'fulfilled') {
      this.#aggressor = null;
      await tenant.stop();
      const error: unknown = outcome?.reason;
      return { reason: messageOf(error), ...(error instanceof WorkerEnded && { died: true }) };
    }
    const reason = idleReason(outcome.value);
    return reason === null ? outcome.value : { reason };
  }

  #requests(windowMs: number, graceMs: number) {
    const times = { windowNs: windowMs * NS_PER_MS, graceNs: graceMs * NS_PER_MS };
    return sessionTaskOf('requests', { ...VICTIM, ...times, rounds: this.#rounds });
  }

  #attack({ kind }: Aggressor, windowMs: number) {
    return sessionTaskOf('aggressor', { kind, windowNs: windowMs * NS_PER_MS, quotaBytes: this.#quotaBytes });
  }

  async #release<T>(tasks: ReadonlyMap<WorkerTenant, Task>, longestMs: number) {
    return (await this.#scene.scene.release<T>(tasks, longestMs + GRACE_MS)).outcomes;
  }
}

function fulfilled<T>(outcome: PromiseSettledResult<T> | undefined): T {
  if (outcome?.status !== 'fulfilled') throw outcome?.reason;
  return outcome.value;
}

/** The work of both while both were running. */
function beside(requests: Requests, aggression: Aggression, windowNs: number): Together | Missing {
  const { arrivedNs, latencyNs, startedNs, endedNs } = requests;
  const doneNs = latencyNs.map((latency, i) => latency + (arrivedNs[i] as number));
  const victim = { startNs: startedNs, endNs: endedNs, marksNs: doneNs };
  const aggressor = { startNs: aggression.startedNs, endNs: aggression.endedNs, marksNs: aggression.marksNs };
  const span = overlapAtWork([victim, aggressor]);
  if (!span) return { reason: apartReason(victim, aggressor, aggression.operations) };
  const [fromNs, toNs] = [span.fromNs + RAMP_NS, Math.min(span.toNs, windowNs)];
  const served = servedIn(requests, fromNs, toNs);
  if (served.latencyNs.length < FEWEST_REQUESTS)
    return { reason: `only ${served.latencyNs.length} requests arrived while the aggressor ran` };
  return { served, rate: rateOf(aggression) as number, spanNs: toNs - fromNs, aggression };
}

/** Which of the two made no progress while the other worked. */
export function apartReason(victim: Activity, aggressor: Activity, operations: number): string {
  const span = overlap([victim, aggressor]);
  if (!span) return 'the two did not run at the same time';
  const worked = ({ marksNs }: Activity) => marksNs.some((ns) => ns >= span.fromNs && ns <= span.toNs);
  const ms = ((span.toNs - span.fromNs) / NS_PER_MS).toFixed(0);
  if (worked(aggressor)) return `no request was served in the ${ms} ms in which the aggressor ran`;
  return `it was held back: none of its ${operations} operations was over in the ${ms} ms in which requests arrived`;
}

/** The increase of the median latency, with its interval. */
export const degradationOf =
  (alone: Served, together: Served): AtLevel =>
  (alpha) => {
    const [before, beside] = [
      serialMedian(alone.latencyNs, { alpha }),
      serialMedian(together.latencyNs, { alpha }),
    ] as const;
    const ratio = ratioInterval(beside, before);
    return {
      value: changePercent(before.value, beside.value),
      ci95: ratio && [changePercent(1, ratio[0]), changePercent(1, ratio[1])],
    };
  };

export function rowOf(aloneBlocks: readonly Served[], blocks: readonly Together[], rateAlone: number) {
  const alone = pooled(aloneBlocks);
  const together = pooled(blocks.map(({ served }) => served));
  const [p50Alone, p50Together] = [p50Ms(alone), p50Ms(together)];
  const [p99Alone, p99Together] = [p99Ms(alone), p99Ms(together)];
  const [deviceAlone, deviceTogether] = [deviceMs(alone), deviceMs(together)];
  const rate = blocks.reduce((sum, block) => sum + block.rate, 0) / blocks.length;
  const isHeldBackAlone = rate > HELD_BACK * rateAlone;
  const spanMs = blocks.reduce((sum, { spanNs }) => sum + spanNs, 0) / NS_PER_MS;
  const sum = (of: (aggression: Aggression) => number) =>
    blocks.reduce((all, { aggression }) => all + of(aggression), 0);
  return {
    degradationPercent: changePercent(p50Alone.value, p50Together.value),
    degradationCi95: degradationOf(alone, together)(ALPHA).ci95,
    p99Percent: p99Alone === null || p99Together === null ? null : changePercent(p99Alone, p99Together),
    devicePercent: deviceAlone === null || deviceTogether === null ? null : changePercent(deviceAlone, deviceTogether),
    throughputLossPercent: lossPercent(alone.onTime / alone.due, together.onTime / together.due),
    requests: together.latencyNs.length,
    givenUp: together.givenUp,
    overloaded: isOverloaded(together),
    interferencePercent: isHeldBackAlone
      ? null
      : interferencePercent({
          together: spanMs,
          firstAlone: together.deviceNs.length * (deviceAlone ?? 0),
          secondAlone: (spanMs * rate) / rateAlone,
        }),
    clockDropPercent: clockDropPercent(
      aloneBlocks.map(({ smClockMhz }) => smClockMhz),
      together.smClockMhz,
    ),
    aggressorPerSecond: { alone: rateAlone, together: rate },
    aggressorLossPercent: isHeldBackAlone ? null : lossPercent(rateAlone, rate),
    allocations: { refused: sum(({ refused }) => refused), aboveQuota: sum(({ exceeded }) => exceeded) },
    usedBytes: Math.max(...blocks.map(({ aggression }) => aggression.usedBytes)),
  };
}

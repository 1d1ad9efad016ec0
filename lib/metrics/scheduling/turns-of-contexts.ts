/** The turns of two contexts on a card, from the times at which a warp of each saw the device's timer advance. */
import { quantileSorted } from 'simple-statistics';
import * as v from 'valibot';
import type { BlockTrace } from '../../native/addon-types.js';
import { clipped, common, type Stretch, total } from '../../stats/stretches.js';
import { quantity } from '../core/details.js';
import { NS_PER_MS, NS_PER_US } from '../core/units.js';

interface TenantTurn extends Stretch {
  tenant: number;
}

export interface Turns {
  /** Time from the last stamp of one context to the first stamp of the other, in us. */
  switchUs: number[];
  /** Lengths in ms of the turns that began and ended while both contexts were there. */
  sliceMs: number[];
  /** Share of each context in the time in which both were there. */
  sharePercent: [number, number];
  spanMs: number;
  /** Time in which both ran, in per cent of the time of the context that ran less; null if that is 0. */
  atOncePercent: number | null;
  /** Number of pauses of one context in which the other did not run either. */
  idlePauses: number;
  /** The largest step of which all differences of stamps are multiples. */
  tickNs: number;
}

/** Times relative to a common origin, sorted by start. */
function stretchesOf({ originMs, fromNs, toNs }: BlockTrace, baseMs: number): Stretch[] {
  const offset = (originMs - baseMs) * NS_PER_MS;
  return fromNs
    .map((from, i) => ({ from: from + offset, to: (toNs[i] as number) + offset }))
    .sort((a, b) => a.from - b.from);
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** Uses differences, because a device's clock need not start at a multiple of its step. */
function tickOf(stretches: readonly Stretch[]): number {
  const times = stretches.flatMap(({ from, to }) => [from, to]);
  return times.slice(1).reduce((step, time, i) => gcd(Math.abs(time - (times[i] as number)), step), 0);
}

/** Null if the contexts were not on the card at the same time. */
export function turnsOf(traces: readonly [BlockTrace, BlockTrace]): Turns | null {
  const baseMs = Math.min(...traces.map(({ originMs }) => originMs));
  const [a, b] = traces.map((trace) => stretchesOf(trace, baseMs)) as [Stretch[], Stretch[]];
  if (a.length === 0 || b.length === 0) return null;
  const span = {
    from: Math.max(a[0]?.from ?? 0, b[0]?.from ?? 0),
    to: Math.min(a.at(-1)?.to ?? 0, b.at(-1)?.to ?? 0),
  };
  if (span.to <= span.from) return null;
  const inSpan = [a, b].map((own) => clipped(own, span)) as [Stretch[], Stretch[]];
  const turns: TenantTurn[] = inSpan
    .flatMap((own, tenant) => own.map((stretch) => ({ ...stretch, tenant })))
    .sort((x, y) => x.from - y.from);
  const pairs = turns.slice(1).map((turn, i) => [turns[i] as TenantTurn, turn] as const);
  const ran = inSpan.map(total) as [number, number];
  const less = Math.min(...ran);
  return {
    switchUs: pairs
      .filter(([before, after]) => before.tenant !== after.tenant)
      .map(([before, after]) => (after.from - before.to) / NS_PER_US),
    sliceMs: turns
      .filter(({ from, to }) => from > span.from && to < span.to)
      .map(({ from, to }) => (to - from) / NS_PER_MS),
    sharePercent: ran.map((ns) => (100 * ns) / (span.to - span.from)) as [number, number],
    spanMs: (span.to - span.from) / NS_PER_MS,
    atOncePercent: less === 0 ? null : (100 * common(inSpan[0], inSpan[1])) / less,
    idlePauses: pairs.filter(([before, after]) => before.tenant === after.tenant).length,
    tickNs: tickOf([...a, ...b]),
  };
}

/** Schema of a point of `sliceDistribution`. */
export const slicePoint = v.strictObject({
  percent: quantity('%', 'Share of the slices that are no longer than that'),
  ms: quantity('ms', 'Length'),
});

const PERCENTS = [1, 5, ...Array.from({ length: 17 }, (_, i) => 10 + 5 * i), 95, 99];

/** The percentiles of the lengths of turns. */
export function sliceDistribution(sliceMs: readonly number[]): v.InferOutput<typeof slicePoint>[] {
  if (sliceMs.length === 0) return [];
  const sorted = [...sliceMs].sort((a, b) => a - b);
  return [
    { percent: 0, ms: sorted[0] as number },
    ...[...new Set(PERCENTS)].map((percent) => ({ percent, ms: quantileSorted(sorted, percent / 100) })),
    { percent: 100, ms: sorted.at(-1) as number },
  ];
}

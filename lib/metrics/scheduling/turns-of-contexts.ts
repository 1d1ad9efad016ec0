/** The turns of two contexts on a card, from when a warp of each saw the device's timer move. */
import { quantileSorted } from 'simple-statistics';
import type { BlockTrace } from '../../native/addon-types.js';
import { clipped, common, type Stretch, total } from '../isolation/intervals.js';
import { NS_PER_MS, NS_PER_US } from '../units.js';

interface TenantTurn extends Stretch {
  tenant: number;
}

export interface Turns {
  /** From the last stamp of one to the first of the other, in us. */
  switchUs: number[];
  /** Turns that began and ended while both were there, in ms. */
  sliceMs: number[];
  /** Of the time in which both were there. */
  sharePercent: [number, number];
  spanMs: number;
  /** Of the shorter one's time. */
  atOncePercent: number;
  /** Pauses of one in which the other did not run either. */
  idlePauses: number;
  /** The greatest step of which all stamps are multiples. */
  tickNs: number;
}

/** Times of one origin, in the order of their begins. */
function stretchesOf({ originMs, fromNs, toNs }: BlockTrace, baseMs: number): Stretch[] {
  const offset = (originMs - baseMs) * NS_PER_MS;
  return fromNs
    .map((from, i) => ({ from: from + offset, to: (toNs[i] as number) + offset }))
    .sort((a, b) => a.from - b.from);
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** Of the differences: a device's clock need not have been 0 at a multiple of its step. */
function tickOf(stretches: readonly Stretch[]): number {
  const times = stretches.flatMap(({ from, to }) => [from, to]);
  return times.slice(1).reduce((step, time, i) => gcd(Math.abs(time - (times[i] as number)), step), 0);
}

/** Null where they were not there at the same time. */
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
  return {
    switchUs: pairs
      .filter(([before, after]) => before.tenant !== after.tenant)
      .map(([before, after]) => (after.from - before.to) / NS_PER_US),
    sliceMs: turns
      .filter(({ from, to }) => from > span.from && to < span.to)
      .map(({ from, to }) => (to - from) / NS_PER_MS),
    sharePercent: ran.map((ns) => (100 * ns) / (span.to - span.from)) as [number, number],
    spanMs: (span.to - span.from) / NS_PER_MS,
    atOncePercent: (100 * common(inSpan[0], inSpan[1])) / Math.min(...ran),
    idlePauses: pairs.filter(([before, after]) => before.tenant === after.tenant).length,
    tickNs: tickOf([...a, ...b]),
  };
}

export interface SlicePoint {
  percent: number;
  ms: number;
}

const PERCENTS = [1, 5, ...Array.from({ length: 17 }, (_, i) => 10 + 5 * i), 95, 99];

/** How long so many per cent of the turns were at most. */
export function sliceDistribution(sliceMs: readonly number[]): SlicePoint[] {
  if (sliceMs.length === 0) return [];
  const sorted = [...sliceMs].sort((a, b) => a - b);
  return [
    { percent: 0, ms: sorted[0] as number },
    ...[...new Set(PERCENTS)].map((percent) => ({ percent, ms: quantileSorted(sorted, percent / 100) })),
    { percent: 100, ms: sorted.at(-1) as number },
  ];
}

/** Latencies of single loads: which hit the L2 cache, which missed it, and which waited for another context. */
import * as v from 'valibot';
import { count, described, quantity, rows } from '../core/details.js';
import type { Chase } from '../../native/addon-types.js';
import { NS_PER_MS } from '../core/units.js';

/** So many loads had about this latency. */
export interface Latency {
  ns: number;
  loads: number;
}

/** A walk through a working set. Times count from the origin of the device's clock that all windows share. */
export interface Walk {
  fromNs: number;
  toNs: number;
  latencies: readonly Latency[];
}

export function walksOf(chase: Chase, baseMs: number): Walk[] {
  const offset = (chase.originMs - baseMs) * NS_PER_MS;
  const latencies: Latency[][] = chase.fromNs.map(() => []);
  chase.walk.forEach((walk, i) => {
    const ns = (chase.cycles[i] as number) / chase.cyclesPerNs;
    latencies[walk]?.push({ ns, loads: chase.loads[i] as number });
  });
  return latencies.map((all, i) => ({
    fromNs: (chase.fromNs[i] as number) + offset,
    toNs: (chase.toNs[i] as number) + offset,
    latencies: all,
  }));
}

const total = (latencies: readonly Latency[]): number => latencies.reduce((sum, { loads }) => sum + loads, 0);

const meanNs = (latencies: readonly Latency[]): number =>
  latencies.reduce((sum, { ns, loads }) => sum + ns * loads, 0) / total(latencies);

/** A cluster of latencies. */
interface Mode {
  /** Mean latency of the loads in nanoseconds. */
  ns: number;
  /** The part of all loads that is in it. */
  part: number;
}

/** Neighbouring bins differ by so much. */
const STEP = Math.log(1.03);
/** A smaller one is no mode. */
const LEAST_PART = 0.05;
/** Between two modes the density falls below this part of the lower one's. */
const VALLEY = 0.5;

/** Loads by the logarithm of their latency, smoothed over three bins; empty bins between are there. */
function densityOf(latencies: readonly Latency[]): { from: number; loads: number[] } {
  const bin = ({ ns }: Latency) => Math.round(Math.log(ns) / STEP);
  const bins = latencies.map(bin);
  const from = Math.min(...bins) - 1;
  const raw = Array<number>(Math.max(...bins) - from + 2).fill(0);
  latencies.forEach(
    ({ loads }, i) => (raw[(bins[i] as number) - from] = (raw[(bins[i] as number) - from] ?? 0) + loads),
  );
  const at = (i: number) => raw[i] ?? 0;
  return { from, loads: raw.map((own, i) => (at(i - 1) + 2 * own + at(i + 1)) / 4) };
}

/** Bins at which one mode ends and the next begins. */
function valleysOf(loads: readonly number[]): number[] {
  const valleys: number[] = [];
  let [peak, low, lowest] = [0, 0, 0];
  loads.forEach((own, i) => {
    const risen = low < VALLEY * Math.min(peak, own);
    if (risen) valleys.push(lowest);
    if (risen || own > peak) [peak, low, lowest] = [own, own, i];
    else if (own < low) [low, lowest] = [own, i];
  });
  return valleys;
}

/** In ascending order. */
export function modesOf(latencies: readonly Latency[]): Mode[] {
  const { from, loads } = densityOf(latencies);
  const limits = [...valleysOf(loads).map((bin) => Math.exp((from + bin) * STEP)), Number.POSITIVE_INFINITY];
  const all = total(latencies);
  return limits
    .map((limit, i) => latencies.filter(({ ns }) => ns < limit && ns >= (limits[i - 1] ?? 0)))
    .filter((cluster) => total(cluster) >= LEAST_PART * all)
    .map((cluster) => ({ ns: meanNs(cluster), part: total(cluster) / all }));
}

/** How a card's hits and misses differ. */
export interface Scale {
  /** Modes of the hits' latencies: large cards have a near and a far half of the cache. */
  hits: Mode[];
  /** Mean latency of all hits. */
  hitNs: number;
  missNs: number;
  /** Loads below hit. */
  thresholdNs: number;
  /** Loads above waited for another context. */
  gapNs: number;
}

type Limits = Pick<Scale, 'thresholdNs' | 'gapNs'>;

/** A load that takes longer than so many misses waited for something else. */
const GAP = 10;
/** The last mode of hits and that of misses. */
export const LEAST_RATIO = 1.5;

export const ratioOf = ({ hits, missNs }: Scale): number => missNs / (hits.at(-1) as Mode).ns;

/** From loads that mostly hit, and loads that mostly miss. */
export function scaleOf(hitting: readonly Latency[], missing: readonly Latency[]): Scale {
  const modes = modesOf(missing);
  const missNs = modes.reduce((most, mode) => (mode.part > most.part ? mode : most)).ns;
  const hits = modesOf(hitting.filter(({ ns }) => ns <= GAP * missNs));
  const last = hits.at(-1) as Mode;
  const thresholdNs = Math.sqrt(last.ns * missNs);
  const { hitNs } = summary(hitting, { thresholdNs, gapNs: GAP * missNs });
  return { hits, hitNs: hitNs ?? last.ns, missNs, thresholdNs, gapNs: GAP * missNs };
}

/** Sums over loads, which add up over parts of a time. */
export interface Tally {
  /** Without gaps. */
  loads: number;
  ns: number;
  hits: number;
  hitNs: number;
  gaps: number;
  gapsNs: number;
}

export function tallyOf(latencies: readonly Latency[], { thresholdNs, gapNs }: Limits): Tally {
  const sums: Tally = { loads: 0, ns: 0, hits: 0, hitNs: 0, gaps: 0, gapsNs: 0 };
  for (const { ns, loads } of latencies) {
    if (ns > gapNs) {
      sums.gaps += loads;
      sums.gapsNs += ns * loads;
      continue;
    }
    sums.loads += loads;
    sums.ns += ns * loads;
    if (ns >= thresholdNs) continue;
    sums.hits += loads;
    sums.hitNs += ns * loads;
  }
  return sums;
}

export function added(tallies: readonly Tally[]): Tally {
  const sums: Tally = { loads: 0, ns: 0, hits: 0, hitNs: 0, gaps: 0, gapsNs: 0 };
  for (const each of tallies) for (const key of Object.keys(sums) as (keyof Tally)[]) sums[key] += each[key];
  return sums;
}

/** Null where there was no such load. */
export interface Means {
  hitPercent: number | null;
  meanNs: number | null;
  /** Latency of those that hit; null without any. */
  hitNs: number | null;
}

export const meansOf = ({ loads, ns, hits, hitNs }: Tally): Means => ({
  hitPercent: loads > 0 ? (100 * hits) / loads : null,
  meanNs: loads > 0 ? ns / loads : null,
  hitNs: hits > 0 ? hitNs / hits : null,
});

export interface Summary extends Means {
  /** Without gaps. */
  loads: number;
  hits: number;
  gaps: number;
  /** Share of the time of all loads. Where contexts do not take turns, these are loads that the card took so long for. */
  gapsPercentOfTime: number | null;
  p50Ns: number | null;
  p99Ns: number | null;
}

const ns = (about: string) => v.nullable(quantity('ns', `${about}; null without any`));

/** Schema of a `Summary`. */
export const summaryFields = {
  loads: count('Loads, without those in gaps'),
  hits: count('Loads that hit the L2 cache'),
  gaps: count('Loads in which another context ran'),
  gapsPercentOfTime: v.nullable(quantity('%', 'Their share of the time of all loads; null without any')),
  hitPercent: v.nullable(quantity('%', 'Loads that hit the L2 cache; null without any')),
  meanNs: ns('Mean latency of a load'),
  hitNs: ns('Mean latency of those that hit'),
  p50Ns: ns('Median latency of a load'),
  p99Ns: ns('99th percentile of the latency of a load'),
};

/** Schema of a `Scale`. */
export const scaleDetails = described(
  v.strictObject({
    hits: rows(
      v.strictObject({
        ns: quantity('ns', 'Mean latency of the loads of the mode'),
        part: described(v.number(), 'The part of all loads that is in it (0 to 1)'),
      }),
      'Modes of the latency of loads that hit',
    ),
    hitNs: quantity('ns', 'Latency of a load that hits the L2 cache'),
    missNs: quantity('ns', 'Latency of a load that misses it'),
    thresholdNs: quantity('ns', 'Loads below it are hits'),
    gapNs: quantity('ns', 'Loads above it waited for another context'),
  }),
  'Latencies of hits and misses, found by a tenant alone',
);

function quantileNs(sorted: readonly Latency[], part: number): number | null {
  const wanted = part * total(sorted);
  let seen = 0;
  return sorted.find(({ loads }) => (seen += loads) >= wanted)?.ns ?? null;
}

export function summary(latencies: readonly Latency[], limits: Limits): Summary {
  const valid = latencies.filter(({ ns }) => ns <= limits.gapNs).sort((a, b) => a.ns - b.ns);
  const tally = tallyOf(latencies, limits);
  const { loads, hits, gaps, gapsNs, ns } = tally;
  const gapsPercentOfTime = ns + gapsNs > 0 ? (100 * gapsNs) / (ns + gapsNs) : null;
  const quantiles = { p50Ns: quantileNs(valid, 0.5), p99Ns: quantileNs(valid, 0.99) };
  return { loads, hits, gaps, gapsPercentOfTime, ...meansOf(tally), ...quantiles };
}

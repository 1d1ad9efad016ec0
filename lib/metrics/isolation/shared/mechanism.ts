/** Infers how a compute limit works from the trace of the kernels that it let through. */
import * as v from 'valibot';
import { choice, text } from '../../core/details.js';
import type { Load } from '../../../native/addon-types.js';
import { median } from '../../../stats/median.js';

export const mechanismFields = v.strictObject({
  name: choice(
    ['none', 'partition', 'exclusive phases', 'delay per launch', 'bounded queue', 'token bucket', 'unclear'],
    'How the limit seems to work',
  ),
  evidence: text('What shows it'),
});

type Mechanism = v.InferOutput<typeof mechanismFields>;

interface Trace {
  /** The load under the limit, and the same load without it. */
  limited: Load;
  reference: Load;
  limitPercent: number;
  achievedPercent: number;
  /** Launches that the load kept in flight. */
  inFlight: number;
}

/** Holders of a lease keep it for a quarter of a second or more; controllers act more often. */
const LONG_PHASE_NS = 200e6;
/** From this share of launches with a gap after them, every launch counts as delayed. */
const NEARLY_ALL = 0.8;
/** Values count as uniform if the middle half of them is no wider than this, relative to the median. */
const UNIFORM = 0.5;
const REGULAR = 0.25;
/** Longest gap that is only a wait for the previous kernel. */
const QUEUE_GAP_NS = 100_000;
/** Sleep periods of pollers, and the fraction of a period by which consecutive sleeps may end late. */
const QUANTA_MS = [120, 100, 50, 20, 10, 5, 2, 1];
const MOST_SLEEPS = 12.5;
const LATE = 0.05;
const LATE_EACH = 0.02;
const EARLY = 0.02;
/** Fewest idle times that reveal a period. */
const FEWEST = 5;

/** Whether at least half of the intended reduction is visible. */
export const throttled = (achievedPercent: number, limitPercent: number): boolean =>
  achievedPercent <= (100 + limitPercent) / 2;

export function mechanismOf(trace: Trace): Mechanism {
  const { limited, reference, limitPercent, achievedPercent } = trace;
  if (!throttled(achievedPercent, limitPercent))
    return { name: 'none', evidence: `${percent(achievedPercent)} of the work under a limit of ${limitPercent} %` };
  const used = limited.multiprocessorsUsed.length;
  const all = reference.multiprocessorsUsed.length;
  const missing = 1 - achievedPercent / 100;
  const explained = idleShare(limited) - idleShare(reference);
  if (explained >= missing / 2) return byGaps(trace);
  if (used <= 0.9 * all) {
    const busy = percent(100 * (1 - idleShare(limited)));
    return { name: 'partition', evidence: `ran on ${used} of ${all} multiprocessors, ${busy} of the time` };
  }
  const longer = middle(limited.kernelsListed.tookNs) / middle(reference.kernelsListed.tookNs);
  return {
    name: 'unclear',
    evidence: `kernels took ${longer.toFixed(1)} times as long on ${used} of ${all} multiprocessors and idle times are ${percent(100 * explained)} of the time`,
  };
}

/** Infers the mechanism from the intervals without a running kernel. */
function byGaps({ limited, inFlight }: Trace): Mechanism {
  const { atNs, tookNs: off } = limited.gapsListed;
  if (off.length === 0)
    return {
      name: 'bounded queue',
      evidence: `idle for less than 0.05 ms after each launch, ${queueOf(limited, inFlight)}`,
    };
  const ends = atNs.map((at, i) => at + (off[i] as number));
  const on = atNs.slice(1).map((at, i) => at - (ends[i] as number));
  const followed = limited.gaps / Math.max(1, limited.launches - 1);
  const typical = `idle for ${ms(middle(off))} after ${on.length > 0 ? ms(middle(on)) : 'a stretch'} of work at the median`;
  if (on.length > 0 && middle(on) >= LONG_PHASE_NS && middle(off) >= LONG_PHASE_NS)
    return { name: 'exclusive phases', evidence: typical };
  if (followed >= NEARLY_ALL && spread(off) <= UNIFORM) {
    const each = `${percent(100 * Math.min(1, followed))} of launches are followed by ${ms(middle(off))} without work`;
    if (middle(off) < QUEUE_GAP_NS)
      return { name: 'bounded queue', evidence: `${each}, ${queueOf(limited, inFlight)}` };
    return {
      name: 'delay per launch',
      evidence: `${each} (half of them within ${percent(100 * spread(off))} of that)`,
    };
  }
  const cycles = atNs.slice(1).map((at, i) => at - (atNs[i] as number));
  if (cycles.length >= 3 && spread(cycles) <= REGULAR)
    return { name: 'token bucket', evidence: `${typical}, every ${ms(middle(cycles))}` };
  const quantum = quantumOf(off);
  if (quantum !== null)
    return { name: 'token bucket', evidence: `${typical}; idle times are multiples of ${quantum} ms` };
  return { name: 'unclear', evidence: `${typical}, without a common period` };
}

/** Busy and idle parts of the time from the first kernel's start to the last one's end. */
export const busyShare = ({ startedNs, endedNs, busyNs }: Load): number => busyNs / (endedNs - startedNs);
export const idleShare = (load: Load): number => 1 - busyShare(load);

const queueOf = ({ mostInFlight }: Load, inFlight: number): string =>
  `${mostInFlight} of ${inFlight} launches in flight at most`;

const middle = (values: readonly number[]): number => median(values).value;

/** Width of the middle half, relative to the median. */
function spread(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] as number;
  return (at(0.75) - at(0.25)) / middle(sorted);
}

/**
 * The longest period, in ms, of which most idle times are a multiple; null if there is none, or too few idle times.
 */
function quantumOf(idleNs: readonly number[]): number | null {
  const fits = (quantum: number) => {
    const periods = idleNs.map((ns) => ns / 1e6 / quantum).filter((count) => count < MOST_SLEEPS);
    const whole = periods.filter((count) => {
      const sleeps = Math.round(count);
      return sleeps > 0 && count >= sleeps - EARLY && count - sleeps <= LATE + LATE_EACH * sleeps;
    });
    return whole.length >= Math.max(FEWEST, NEARLY_ALL * periods.length);
  };
  return QUANTA_MS.find(fits) ?? null;
}

const percent = (value: number): string => `${value.toFixed(1)} %`;
const ms = (ns: number): string => `${(ns / 1e6).toFixed(ns < 1e6 ? 3 : 1)} ms`;

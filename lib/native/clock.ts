/** Whether times come from the system's clock: a layer that interposes the clock controls every latency. */
import type { ClockReading } from './addon-types.js';

/** Two readings of one kernel clock may differ by the time between them, and by this share of the elapsed time. */
const SAME_CLOCK = 1e-4;
const SAME_CLOCK_NS = 20_000;
/** Tolerance between the processor's counter and a clock that NTP steers; its stated frequency is far more accurate. */
const SAME_RATE = 0.01;

/** Name of the check in results. */
export const CLOCK_CHECK = "the clock is the system's";

interface ClockJudgement {
  /** Null if nothing could be compared. */
  passed: boolean | null;
  detail: string;
  /** Why no time measured in that process may be published; null if there is no objection. */
  invalid: string | null;
}

type Rate = ClockReading['rates'][number];

const times = (ratio: number): string => `${ratio.toFixed(4)} of the rate of`;

/** What a clock disagrees with, as the end of a sentence; null if it agrees. */
function disagreement({ clock, libraryNs, systemNs, counterNs, bracketNs }: Rate): string | null {
  const allowed = bracketNs + SAME_CLOCK_NS + SAME_CLOCK * systemNs;
  if (Math.abs(libraryNs - systemNs) > allowed)
    return `${clock} ran at ${times(libraryNs / systemNs)} the raw system call`;
  if (counterNs !== null && Math.abs(libraryNs - counterNs) > bracketNs + SAME_RATE * counterNs)
    return `${clock} ran at ${times(libraryNs / counterNs)} the processor's counter`;
  return null;
}

/**
 * A clock that stands still while a layer works, and catches up later, keeps its rate. Null if clock and counter
 * advanced alike between any two readings.
 */
function hiddenTime({ agreed }: ClockReading): string | null {
  if (agreed === null || agreed.differing === 0) return null;
  const most = `${(agreed.largestNs / 1e3).toFixed(1)} us`;
  return `the clock and the processor's counter advanced differently between ${agreed.differing} of ${agreed.compared} readings, by up to ${most}`;
}

/**
 * Judges a process's clocks since its addon was loaded. `cleanVdso`: the digest of the kernel's code for reading clocks
 * in a process without a layer; null if there is none to compare with.
 */
export function judgeClock(reading: ClockReading, cleanVdso: string | null = null): ClockJudgement {
  const { functions, rates, counterUnused, vdso } = reading;
  const foreign = functions.filter(({ own }) => !own);
  const wrong = [...rates.map(disagreement), hiddenTime(reading)].filter((text) => text !== null);
  const because = wrong.length > 0 ? ` (${wrong.join('; ')})` : '';
  if (foreign.length > 0) {
    const owners = [...new Set(foreign.map(({ owner }) => owner ?? 'code that no library owns'))].join(', ');
    return failed(`the clock belongs to ${owners}${because}`, foreign);
  }
  if (wrong.length > 0) return failed(`the clock is changed by an unknown library${because}`, []);
  if (cleanVdso !== null && vdso !== null && vdso !== cleanVdso)
    return failed("the kernel's code for reading clocks (vDSO) was changed in this process", []);
  const [rate] = rates;
  if (!rate) return { passed: null, detail: 'no clock was read', invalid: null };
  const counter = rate.counterNs === null ? `counter not checked: ${counterUnused}` : "and the processor's counter";
  const detail = `libc's, at the rate of the raw system call over ${(rate.systemNs / 1e9).toFixed(2)} s`;
  return { passed: true, detail: `${detail}${rate.counterNs === null ? '; ' : ' '}${counter}`, invalid: null };
}

function failed(invalid: string, foreign: ClockReading['functions']): ClockJudgement {
  const names = foreign.map(({ name }) => name).join(', ');
  return { passed: false, detail: `${invalid}${names && `: ${names}`}`, invalid };
}

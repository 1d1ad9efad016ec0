/** Times that the tool measured around recorded calls: bounds that hold even if the thread is preempted. */
import { expect } from 'vitest';
import { median } from '../../lib/stats/median.js';
import type { Recorded, RecordedCall } from './record.js';
import type { Estimate } from './recovered.js';

/** A time is at least as long as the calls inside it, and lies between the calls before and after. */
export interface Bracket {
  leastNs: number;
  mostNs: number;
}

/** Bounds of the time from before `first` until after `last`, which are calls of one thread. */
export function bracketOf({ calls }: Recorded, first: RecordedCall, last: RecordedCall): Bracket {
  const own = calls.filter(({ thread, name }) => thread === first.thread && name.startsWith('cu'));
  const [before, behind] = [own[own.indexOf(first) - 1], own[own.indexOf(last) + 1]];
  if (!before || !behind) throw new Error(`No call was recorded around ${first.name}.`);
  return { leastNs: last.left - first.entered, mostNs: behind.entered - before.left };
}

/** Rounding of numbers computed from the same times, and of their conversion. */
const ROUNDING = 1e-9;

export function expectBetween(value: number, [least, most]: readonly [number, number]): void {
  expect(value).toBeGreaterThanOrEqual(least * (1 - ROUNDING));
  expect(value).toBeLessThanOrEqual(most * (1 + ROUNDING));
}

/** A median of these times; its interval, if it has one, holds it. `unitNs`: 1e3 if they are in us. */
export function expectMedianBetween({ value, ci95 }: Estimate, brackets: readonly Bracket[], unitNs = 1): void {
  const least = median(brackets.map(({ leastNs }) => leastNs / unitNs));
  const most = median(brackets.map(({ mostNs }) => mostNs / unitNs));
  expectBetween(value as number, [least.value, most.value]);
  if (ci95) expectBetween(value as number, ci95);
}

/**
 * The same for rates in GB/s (bytes per nanosecond). With an even number of samples the median of rates differs from
 * the rate of the median time.
 */
export const expectRateBetween = (rate: Estimate, bytes: number, brackets: readonly Bracket[]): void =>
  expectMedianBetween(
    rate,
    brackets.map(({ leastNs, mostNs }) => ({ leastNs: bytes / mostNs, mostNs: bytes / leastNs })),
  );

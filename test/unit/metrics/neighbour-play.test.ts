import { expect, it } from 'vitest';
import { memoryViolations } from '../../../lib/metrics/isolation/is-009-noisy-neighbor.js';
import {
  apartReason,
  type InterferenceRow,
  rowOf,
  type Together,
} from '../../../lib/metrics/isolation/shared/neighbour-play.js';
import type { Served } from '../../../lib/metrics/isolation/victim-requests.js';

const MS = 1e6;
const active = (startMs: number, endMs: number, marksMs: readonly number[]) => ({
  startNs: startMs * MS,
  endNs: endMs * MS,
  marksNs: marksMs.map((ms) => ms * MS),
});

it.each([
  ['did not meet', active(0, 50, [10]), active(60, 100, [70]), 'the two did not run at the same time'],
  [
    'met while the victim stood still',
    active(0, 100, []),
    active(20, 110, [30, 40]),
    'no request was served in the 80 ms in which the aggressor ran',
  ],
  [
    'met while the aggressor stood still',
    active(0, 100, [5, 50]),
    active(0, 130, [120]),
    'it was held back: none of its 7 operations was over in the 100 ms in which requests arrived',
  ],
])('gives the reason for two tenants that %s', (_, victim, aggressor, reason) =>
  expect(apartReason(victim, aggressor, 7)).toBe(reason),
);

it('does not count refusals, or memory below the quota, as violations', () => {
  const row = (more: Partial<InterferenceRow>): InterferenceRow => ({
    ...{ victim: 'v', aggressor: 'storm', degradationPercent: 1 },
    ...more,
  });
  const rows = [row({ usedBytes: 100, allocations: { refused: 9, aboveQuota: 0 } }), row({}), row({ usedBytes: 0 })];
  expect(memoryViolations(rows, 100)).toEqual([]);
  expect(memoryViolations([row({ usedBytes: 101 })], null)).toEqual([]);
  expect(memoryViolations([row({ usedBytes: 101 })], 100)).toHaveLength(1);
});

/** 40 requests, one every 5 ms, each of which takes this long. */
function served(serviceMs: number): Served {
  const each = Array<number>(40).fill(serviceMs * MS);
  const done = { latencyNs: each, deviceNs: each, serviceNs: each };
  return { ...done, givenUp: 0, onTime: 40, due: 40, smClockMhz: null };
}

/** A victim beside an aggressor that did this much a second; alone the aggressor did 100. */
function beside(serviceMs: number, rate: number): Together {
  const aggression = { refused: 0, exceeded: 0, usedBytes: 0 } as Together['aggression'];
  return { served: served(serviceMs), rate, spanNs: 200 * MS, aggression };
}

const row = (serviceMs: number, rate: number) => rowOf([served(1), served(1)], [beside(serviceMs, rate)], 100);

it('says that requests queue if they arrive faster than they are served', () => {
  expect(row(4.7, 50)).toMatchObject({ overloaded: false, degradationPercent: expect.closeTo(370, 9) });
  expect(row(4.8, 50).overloaded).toBe(true);
});

it('says so where at least half of the requests were given up, though none of these kept the victim busy', () => {
  const together = (givenUp: number) => {
    const play = beside(1, 50);
    return { ...play, served: { ...play.served, serviceNs: [], givenUp } };
  };
  const half = served(1).latencyNs.length / 2;
  const overloaded = (givenUp: number) => rowOf([served(1)], [together(givenUp)], 100).overloaded;
  expect([0, half - 1, half, 2 * half].map(overloaded)).toEqual([false, false, true, true]);
});

it('has no interference where the aggressor did less alone', () => {
  // In 200 ms: 40 ms of requests, and what takes the aggressor 100 ms alone.
  expect(row(2, 50)).toMatchObject({ interferencePercent: expect.any(Number), aggressorLossPercent: 50 });
  expect(row(2, 150).aggressorLossPercent).toBe(-50);
  expect(row(2, 201)).toMatchObject({ interferencePercent: null, aggressorLossPercent: null });
});

import { expect, it } from 'vitest';
import { memoryViolations } from '../../lib/metrics/isolation/is-009-noisy-neighbor.js';
import { apartReason, type InterferenceRow } from '../../lib/metrics/isolation/neighbour-play.js';

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

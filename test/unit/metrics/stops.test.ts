import { expect, it } from 'vitest';
import { steadyCheck, stopsIn } from '../../../lib/metrics/llm/stops.js';

const MS = 1e6;
const steps = (count: number, ...others: number[]) => [
  ...Array<number>(count).fill(MS),
  ...others.map((ms) => ms * MS),
];

it('finds stops, however short the median is', () => {
  expect(stopsIn(steps(200))).toEqual({ count: 0, longestMs: null, lostPercent: 0 });
  // 200 + 100 + 300 ms, of which 2 ms are usual steps.
  expect(stopsIn(steps(200, 100, 300))).toEqual({
    count: 2,
    longestMs: 300,
    lostPercent: expect.closeTo((100 * 398) / 600, 9),
  });
  expect(stopsIn(steps(200, 9.9)).count).toBe(0);
});

it('says what the median does not show', () => {
  const row = (mode: string, tokenNs: number[]) => ({ mode, stops: stopsIn(tokenNs) });
  expect(steadyCheck([row('launches', steps(200)), row('graph', steps(200, 10))]).passed).toBe(true);
  expect(steadyCheck([row('launches', steps(200, 100, 300)), row('graph', steps(200))])).toMatchObject({
    passed: 'not checked',
    detail: 'by launches, 2 of up to 300 ms took 66 % of the time, which the median does not show',
  });
});

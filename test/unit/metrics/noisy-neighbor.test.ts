/** IS-009: what its checks say of a victim that cannot keep up beside a neighbour. */
import { expect, it } from 'vitest';
import { judge } from '../../../lib/metrics/isolation/is-009-noisy-neighbor.js';
import type { InterferenceRow } from '../../../lib/metrics/isolation/shared/neighbour-play.js';
import { PERIOD_NS } from '../../../lib/metrics/isolation/victim-requests.js';

const REQUESTS = 100;
const each = Array<number>(REQUESTS).fill(PERIOD_NS / 4);
const alone = {
  ...{ latencyNs: each, deviceNs: each, serviceNs: each, givenUp: 0, onTime: REQUESTS, due: REQUESTS },
  smClockMhz: null,
};
const row = (aggressor: string, degradationPercent: number, change: Partial<InterferenceRow> = {}) => ({
  ...{ victim: 'v', aggressor, degradationPercent, givenUp: 0, overloaded: false, ...change },
});
const judged = (...rows: InterferenceRow[]) =>
  judge({
    rows,
    alone,
    degradations: new Map(),
    quotaBytes: null,
    sharing: { unseen: 'not traced' },
    entered: undefined,
  });
const check = (result: ReturnType<typeof judge>, name: string) => result.checks.find((one) => one.name === name);

it('fails the checks of a victim with a queue, and keeps the value: only alone must the rate be met', () => {
  const result = judged(row('DRAM', 226), row('issue slots', 12_888, { givenUp: 25, overloaded: true }));
  expect(result).toMatchObject({ value: 12_888, details: { worst: 'issue slots' } });
  expect(result.status).toBeUndefined();
  expect(check(result, 'the victim kept up')).toMatchObject({
    passed: false,
    detail: expect.stringMatching(/^not beside issue slots: /),
  });
  expect(check(result, 'every request was served')).toMatchObject({
    passed: false,
    detail: 'beside issue slots 25 were given up; their real latency is longer',
  });
});

it('passes them if it served every request beside each neighbour', () => {
  const result = judged(row('DRAM', 226), row('L2', 12));
  expect(check(result, 'the victim kept up')?.passed).toBe(true);
  expect(check(result, 'every request was served')?.passed).toBe(true);
});

it('has the interval of the worst neighbour, whichever it is', () => {
  const fixed = (value: number, ci95: [number, number]) => () => ({ value, ci95 });
  const degradations = new Map([
    ['DRAM', fixed(20, [15, 25])],
    ['L2', fixed(22, [12, 32])],
  ]);
  const rows = [row('DRAM', 20), row('L2', 22)];
  const result = judge({ rows, alone, degradations, quotaBytes: null, sharing: { unseen: '' }, entered: undefined });
  expect(result).toMatchObject({ value: 22, ci95: [15, 32] });
});

it('is invalid if an aggressor died: it may have been the worst', () => {
  const dead: InterferenceRow = {
    ...{ victim: 'v', aggressor: 'L2', degradationPercent: null, died: true },
    reason: 'The worker process was killed by SIGKILL.',
  };
  const result = judged(row('DRAM', 226), dead);
  expect(result).toMatchObject({ status: 'invalid', value: null });
  expect(result.reason).toMatch(/^no aggressor died: L2: The worker process was killed by SIGKILL\. It may have been/);
  const idle: InterferenceRow = { victim: 'v', aggressor: 'L2', degradationPercent: null, reason: 'it was refused' };
  expect(judged(row('DRAM', 226), idle).status).toBeUndefined();
});

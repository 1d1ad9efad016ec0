import { expect, it } from 'vitest';
import { offeredRateMet, PERIOD_NS, type Served } from '../../../lib/metrics/isolation/victim-requests.js';

function served(offered: number, { givenUp = 0, serviceNs = PERIOD_NS / 4 } = {}): Served {
  const done = Array<number>(offered - givenUp).fill(serviceNs);
  const latencyNs = [...done, ...Array<number>(givenUp).fill(10 * PERIOD_NS)];
  return { latencyNs, deviceNs: done, serviceNs: done, givenUp, onTime: done.length, due: offered, smClockMhz: null };
}

it.each([0, 1, 3])('accepts the offered rate if %i of 300 requests were dropped', (givenUp) => {
  expect(offeredRateMet(served(300, { givenUp }))).toEqual({
    name: 'the offered rate was met alone',
    passed: true,
    detail: `requests kept it busy for 25.0 % of the time, ${givenUp} of 300 were given up`,
  });
});

it.each([4, 299, 300])('rejects the offered rate if %i of 300 requests were dropped', (givenUp) => {
  const { passed, detail } = offeredRateMet(served(300, { givenUp }));
  expect(passed).toBe(false);
  expect(detail).toContain(`${givenUp} of 300 were given up`);
});

it('rejects the offered rate if requests leave no idle time', () => {
  expect(offeredRateMet(served(300, { serviceNs: 0.96 * PERIOD_NS })).passed).toBe(false);
});

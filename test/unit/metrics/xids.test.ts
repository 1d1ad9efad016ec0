import { expect, it } from 'vitest';
import { xidsFromNow } from '../../../lib/metrics/isolation/shared/outside.js';
import { truthBy } from '../../../lib/native/ground-truth.js';
import { loadAddon } from '../../../lib/native/load.js';
import type { XidEvent } from '../../../lib/native/addon-types.js';

/** An NVML that holds errors until somebody reads them, and gives them the time of that reading. */
function nvmlWith(held: number[]) {
  const events: XidEvent[] = [];
  const truth = truthBy({
    state: () => Promise.resolve(null),
    utilization: () => Promise.resolve(null),
    xids: (sinceNs) => {
      events.push(...held.splice(0).map((xid) => ({ atNs: loadAddon().now(), xid })));
      return Promise.resolve({ events: events.filter(({ atNs }) => atNs >= sinceNs) });
    },
  });
  return { truth };
}

it('counts only errors of the card from after its call', async () => {
  const held = [31, 13, 43];
  const seen = await xidsFromNow(nvmlWith(held));
  expect(await seen(false)).toEqual([]);
  held.push(31);
  expect(await seen(true)).toEqual([31]);
});

it('reports no error that is expected but does not happen', async () => {
  const seen = await xidsFromNow(nvmlWith([31]));
  expect(await seen(true)).toEqual([]);
});

it('is null where nobody looks from outside, or NVML does not report errors', async () => {
  expect(await (await xidsFromNow({ truth: null }))(true)).toBeNull();
  const { truth } = nvmlWith([]);
  const silent = { ...truth, xids: () => Promise.resolve({ unsupported: 'not for this GPU' }) };
  expect(await (await xidsFromNow({ truth: silent }))(true)).toBeNull();
});

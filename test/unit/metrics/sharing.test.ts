/** How tenants share a card, for traces with known results. */
import { describe, expect, it } from 'vitest';
import { interferencePercent } from '../../../lib/stats/interference.js';
import { type Sharing, sharingOf } from '../../../lib/metrics/isolation/shared/sharing.js';
import type { BlockTrace } from '../../../lib/native/addon-types.js';

const MS = 1e6;

/** Blocks on each of the multiprocessors during each of the time ranges, in ms. */
function trace(multiprocessors: readonly number[], stretches: readonly [number, number][], originMs = 0): BlockTrace {
  const all = multiprocessors.flatMap((sm) => stretches.map(([from, to]) => ({ sm, from: from * MS, to: to * MS })));
  return {
    originMs,
    multiprocessor: all.map(({ sm }) => sm),
    fromNs: all.map(({ from }) => from),
    toNs: all.map(({ to }) => to),
    blocks: all.length,
  };
}

const turns = (first: number, each: number, count: number): [number, number][] =>
  Array.from({ length: count }, (_, i) => [first + 2 * each * i, first + 2 * each * i + each]);

describe('how a card is shared', () => {
  it('is time-sliced if tenants never run at once, with the length of a slice', () => {
    const sharing = sharingOf([trace([0, 1], turns(0, 2, 10)), trace([0, 1], turns(2, 2, 10))]);
    expect(sharing).toMatchObject({ kind: 'time slices', atOncePercent: 0, sharedMultiprocessors: 2 });
    expect((sharing as Sharing).slices).toMatchObject({ p50Ms: 2, maxMs: 2 });
  });

  it('is time-sliced even if both seem to run for a moment during a switch', () => {
    const late = turns(2, 2, 10).map(([from, to]): [number, number] => [from - 0.05, to]);
    expect(sharingOf([trace([0], turns(0, 2, 10)), trace([0], late)])).toMatchObject({ kind: 'time slices' });
  });

  it('is concurrent if both run on one multiprocessor at once', () =>
    expect(sharingOf([trace([0, 1], [[0, 50]]), trace([1, 2], [[10, 60]])])).toMatchObject({
      kind: 'blocks of both at once',
      atOncePercent: 100,
      multiprocessors: [2, 2],
      sharedMultiprocessors: 1,
      slices: null,
    }));

  it('is a partition if they run at once but never on the same multiprocessor', () =>
    expect(sharingOf([trace([0, 1], [[0, 50]]), trace([2, 3], [[0, 50]])])).toMatchObject({
      kind: 'partition',
      sharedMultiprocessors: 0,
    }));

  it('is a partition if each has an instance of its own, which number their multiprocessors alike', () =>
    expect(sharingOf([trace([0, 1], [[0, 50]]), trace([0, 1], [[0, 50]])], 2)).toMatchObject({
      kind: 'partition',
      multiprocessors: [2, 2],
      sharedMultiprocessors: 0,
    }));

  it('is unclear if they use the same multiprocessors, but never one at once', () =>
    expect(
      sharingOf([
        { ...trace([0], [[0, 25]]), multiprocessor: [0, 1], fromNs: [0, 25 * MS], toNs: [25 * MS, 50 * MS] },
        { ...trace([0], [[0, 25]]), multiprocessor: [1, 0], fromNs: [0, 25 * MS], toNs: [25 * MS, 50 * MS] },
      ]),
    ).toMatchObject({ kind: 'unclear', atOncePercent: 100, atOnceOnAnSmPercent: 0 }));

  it('aligns traces with different origins', () =>
    expect(sharingOf([trace([0], [[0, 50]], 1_000), trace([0], [[0, 50]], 1_050)])).toEqual({
      unseen: 'the tenants did not run at the same time',
    }));

  it('is unknown for a tenant that ran nothing', () =>
    expect(sharingOf([trace([], []), trace([0], [[0, 50]])])).toEqual({ unseen: 'a tenant ran no block' }));
});

describe('interference', () => {
  it.each([
    ['as if alone', 0, { together: 100, firstAlone: 100, secondAlone: 20 }],
    ['as in turn', 100, { together: 120, firstAlone: 100, secondAlone: 20 }],
    ['half way', 50, { together: 150, firstAlone: 100, secondAlone: 100 }],
    ['worse than in turn', 150, { together: 100, firstAlone: 40, secondAlone: 40 }],
    ['faster beside each other', -50, { together: 50, firstAlone: 100, secondAlone: 100 }],
  ])('is %s: %i %%', (_, percent, times) => expect(interferencePercent(times)).toBeCloseTo(percent, 9));

  it('is null if one did nothing', () =>
    expect(interferencePercent({ together: 100, firstAlone: 100, secondAlone: 0 })).toBeNull());
});

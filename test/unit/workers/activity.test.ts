import { describe, expect, it } from 'vitest';
import { type Activity, overlap, overlapAtWork } from '../../../lib/workers/activity.js';

const activity = (startNs: number, endNs: number, ...marksNs: number[]): Activity => ({ startNs, endNs, marksNs });

describe('the overlap of activities', () => {
  it('is from the last start to the first end', () =>
    expect(overlap([activity(0, 10), activity(3, 12), activity(1, 8)])).toEqual({ fromNs: 3, toNs: 8 }));

  it.each([
    ['one ended before another began', [activity(0, 3), activity(4, 9)]],
    ['one ended as another began', [activity(0, 4), activity(4, 9)]],
    ['two of three touch', [activity(0, 4), activity(0, 9), activity(4, 9)]],
    ['one began and ended at once', [activity(5, 5), activity(0, 9)]],
    ['one ended before it began', [activity(6, 5), activity(0, 9)]],
    ['a time is not known', [activity(NaN, 9), activity(0, 9)]],
    ['there is no activity', []],
  ])('is null if %s', (_, activities) => expect(overlap(activities)).toBeNull());

  it('shows work if each activity has a mark in it, including its ends', () =>
    expect(overlapAtWork([activity(0, 10, 3), activity(3, 12, 1, 10)])).toEqual({ fromNs: 3, toNs: 10 }));

  it('is the only activity', () => {
    expect(overlap([activity(2, 7)])).toEqual({ fromNs: 2, toNs: 7 });
    expect(overlap([activity(2, 2)])).toBeNull();
  });

  it('shows no work if there is no overlap', () => {
    expect(overlapAtWork([activity(0, 4, 4), activity(4, 9, 4)])).toBeNull();
    expect(overlapAtWork([])).toBeNull();
  });

  it('shows no work if one activity reports no progress', () =>
    expect(overlapAtWork([activity(0, 10, 5), activity(0, 10)])).toBeNull());

  it('shows no work if one activity made no progress', () =>
    expect(overlapAtWork([activity(0, 10, 2, 5), activity(3, 12, 1, 11)])).toBeNull());
});

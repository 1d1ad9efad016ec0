import { describe, expect, it } from 'vitest';
import { type Paused, pauseIn, resultsAway } from '../../../lib/metrics/checkpoint/pauses.js';

const called = (fromMs: number, toMs: number) => ({
  code: 0,
  name: 'CUDA_SUCCESS',
  tookNs: (toMs - fromMs) * 1e6,
  state: null,
  thread: null,
  calledNs: fromMs * 1e6,
  fromNs: fromMs * 1e6,
  toNs: toMs * 1e6,
});

const paused = (resultsMs: readonly number[]): Paused => ({
  resultsNs: resultsMs.map((ms) => ms * 1e6),
  move: { lock: called(10, 12), checkpoint: called(12, 40), restore: called(40, 60), unlock: called(60, 61) },
  verified: { checksums: true, addresses: true, graph: true, stream: true, event: true, firstResultNs: 1 },
});

describe('the pause of a process', () => {
  it('is the time between the results around it', () => {
    const found = pauseIn(paused([2, 4, 6, 8, 11, 63, 65, 67]));
    expect(found).toEqual({ pauseMs: 52, unlockToResultMs: 3, longestGapMs: 52, usualGapMs: 2 });
    expect(resultsAway(paused([8, 11, 63]))).toBe(0);
  });

  it('is not known without a result on both sides', () => {
    expect(pauseIn(paused([2, 4, 8]))).toBeNull();
    expect(pauseIn(paused([63, 65]))).toBeNull();
    expect(pauseIn(paused([]))).toBeNull();
  });

  it('is no pause where the process goes on working', () => {
    expect(resultsAway(paused([8, 11, 41, 50, 59, 63]))).toBe(3);
  });
});

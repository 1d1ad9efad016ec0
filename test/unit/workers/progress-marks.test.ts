import { describe, expect, it } from 'vitest';
import { ProgressMarks } from '../../../lib/workers/progress-marks.js';

function marksOf(count: number, most: number): readonly number[] {
  const marks = new ProgressMarks(most);
  for (let ns = 0; ns < count; ns++) marks.add(ns);
  return marks.marksNs;
}

describe('marks of progress', () => {
  it('are all kept up to the limit', () => expect(marksOf(4, 4)).toEqual([0, 1, 2, 3]));

  it('are thinned evenly beyond it, including the first', () => {
    expect(marksOf(5, 4)).toEqual([0, 2, 4]);
    expect(marksOf(17, 4)).toEqual([0, 8, 16]);
  });

  it('never exceed the limit', () => {
    const kept = marksOf(100_000, 100);
    expect(kept.length).toBeLessThanOrEqual(100);
    expect(kept.length).toBeGreaterThan(45);
    const steps = new Set(kept.slice(1).map((ns, i) => ns - (kept[i] as number)));
    expect(steps.size).toBe(1);
  });
});

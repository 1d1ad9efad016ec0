import { describe, expect, it } from 'vitest';
import { besides } from '../../../lib/results/rounds.js';
import { runDocument } from '../run/fixtures.js';

const round = (durationMs: number, session?: { document: number; round: number }) => ({
  ...runDocument({ durationMs }),
  ...(session && { session }),
});
const pairs = (...sides: Parameters<typeof besides>) => besides(...sides).map((pair) => pair.map((r) => r.durationMs));

describe('paired rounds', () => {
  it('are the n-th of both systems', () => expect(pairs([round(1), round(2)], [round(3)])).toEqual([[1, 3]]));
  it('have the same place if a merged document records it', () => {
    const at = (document: number, number: number) => ({ document, round: number });
    const system = [round(1, at(0, 1)), round(2, at(1, 0))];
    const baseline = [round(3, at(0, 0)), round(4, at(0, 1)), round(5, at(1, 0))];
    expect(pairs(system, baseline)).toEqual([
      [1, 4],
      [2, 5],
    ]);
  });
});

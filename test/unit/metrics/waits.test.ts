/** Waits from a random moment until the next token. */
import { expect, it } from 'vitest';
import { waitsIn } from '../../../lib/metrics/llm/waits.js';
import { seededRandom } from '../../../lib/stats/random.js';

const every = (stepNs: number, from: number, to: number): number[] =>
  Array.from({ length: Math.floor((to - from) / stepNs) + 1 }, (_, i) => from + i * stepNs);

it('is half of the time between tokens in the middle of all moments, and nearly all of it at the 99th percentile', () => {
  const waits = waitsIn([every(10, 0, 1_000)], { fromNs: 0, toNs: 1_000 });
  expect(waits?.p50).toBeCloseTo(5, 4);
  expect(waits?.p99).toBeCloseTo(9.9, 4);
});

it('counts a pause by its length, which percentiles of the steps do not', () => {
  // A thousand steps and one pause that is as long as they are together.
  const tokens = [...every(1, 0, 1_000), ...every(1, 2_000, 2_001)];
  const waits = waitsIn([tokens], { fromNs: 0, toNs: 2_000 });
  // A quarter of the moments is in the pause with less than 500 to go, and half have at most 1.
  expect(waits?.p50).toBeCloseTo(1, 1);
  expect(waits?.p99).toBeCloseTo(980, 0);
});

it('takes the part of a gap that lies inside, and how long it lasts beyond', () => {
  // Moments from 50 to 100 wait for the token at 150: 50 to 100.
  expect(waitsIn([[0, 150]], { fromNs: 50, toNs: 100 })?.p50).toBeCloseTo(75, 3);
});

it('agrees with moments that are drawn at random', () => {
  const next = seededRandom(7);
  const tokens = [0];
  for (let i = 0; i < 400; i++) tokens.push((tokens.at(-1) as number) + (next() < 0.02 ? 300 : 1 + 9 * next()));
  const toNs = tokens.at(-1) as number;
  const drawn = Array.from({ length: 40_000 }, () => {
    const at = toNs * next();
    return (tokens.find((ns) => ns > at) as number) - at;
  }).sort((a, b) => a - b);
  const waits = waitsIn([tokens], { fromNs: 0, toNs }) as { p50: number; p99: number };
  const below = (ns: number) => drawn.filter((wait) => wait <= ns).length / drawn.length;
  expect(below(waits.p50)).toBeGreaterThan(0.48);
  expect(below(waits.p50)).toBeLessThan(0.52);
  expect(below(waits.p99)).toBeGreaterThan(0.985);
  expect(below(waits.p99)).toBeLessThan(0.995);
});

it('is nothing without two tokens', () => {
  expect(waitsIn([[5], []], { fromNs: 0, toNs: 10 })).toBeNull();
});

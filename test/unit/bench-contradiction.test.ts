import { expect, it } from 'vitest';

interface Effect {
  verdict: 'better' | 'same' | 'worse' | 'inconclusive';
  ratioCi95: [number, number] | null;
}
const file = new URL('../../bench/real-gpu/contradiction.js', import.meta.url).href;
const { contradict } = (await import(file)) as { contradict: (a: Effect, b: Effect) => boolean };

it.each<[boolean, Effect['verdict'], Effect['ratioCi95'], Effect['verdict'], Effect['ratioCi95']]>([
  [false, 'worse', [1.2, 1.4], 'worse', [1.3, 1.5]],
  [true, 'worse', [1.04, 1.08], 'same', [0.98, 1.05]],
  [true, 'worse', null, 'better', null],
  [false, 'inconclusive', [0.9, 1.2], 'same', [0.99, 1.02]],
  [false, 'same', null, 'inconclusive', null],
  [true, 'inconclusive', [1.1, 1.6], 'same', [0.98, 1.04]],
  [true, 'worse', [1.8, 2.2], 'worse', [1.2, 1.4]],
  [false, 'inconclusive', [1.1, 1.6], 'inconclusive', [0.5, 0.9]],
])('contradiction: %j, between %s %j and %s %j', (expected, verdictA, ciA, verdictB, ciB) => {
  const a = { verdict: verdictA, ratioCi95: ciA };
  const b = { verdict: verdictB, ratioCi95: ciB };
  expect(contradict(a, b)).toBe(expected);
  expect(contradict(b, a)).toBe(expected);
});

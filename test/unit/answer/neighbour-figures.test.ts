/** What a card says of a layer that changes results, and of a neighbour whose activity can be learned. */
import { expect, it } from 'vitest';
import { answerOf } from '../../../lib/answer/answer.js';
import { comparison, measured as result } from '../report/fixtures.js';

function figuresOf(value: { results: number; bits: number; verdict: string }) {
  const document = comparison(
    ['native', 'a'].map((name) => ({
      name,
      metrics: (round: number) => [
        { ...result('IS-014', 1, round), value: value.results },
        { ...result('IS-015', 1, round), value: value.bits, details: { verdict: value.verdict } },
      ],
    })),
  );
  const { lines } = answerOf(document).cards[0] as ReturnType<typeof answerOf>['cards'][number];
  return lines.find(({ question }) => question === 'neighbours');
}

it.each([
  [{ results: 1, bits: 0, verdict: 'passes' }, 'holds', 'holds', '0 bits/s', 'none'],
  [{ results: 1, bits: 1.887, verdict: 'inconclusive' }, 'holds', 'measured', '1.89 bits/s', 'none'],
  [{ results: 0, bits: 10, verdict: 'fails' }, 'broken', 'broken', '10 bits/s', 'some'],
])('of %j results are %s, and activity is %s', (value, results, activity, bits, differ) => {
  const line = figuresOf(value);
  expect(line?.figures).toMatchObject([
    { metric: 'IS-015', what: "a neighbour's activity", word: activity, shown: bits },
    { metric: 'IS-014', what: 'results of kernels', word: results, shown: differ, note: 'differ from native ones' },
  ]);
  expect(line?.word).toBe([activity, results].find((word) => word !== 'holds') ?? 'holds');
});

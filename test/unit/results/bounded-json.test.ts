/** JSON that is read only within bounds. */
import { describe, expect, it } from 'vitest';
import { boundedJson } from '../../../lib/results/bounded-json.js';

const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('bounded JSON', () => {
  it.each([
    '{"a": [1, "b", null, {"c": true}]}',
    '"[[[{{{,,,"',
    `"${'['.repeat(1_000)}"`,
    `"\\"${'['.repeat(1_000)}\\\\"`,
    `["\\\\", "${'{'.repeat(1_000)}", "\\\\\\""]`,
    lists(100),
    `[${Array(1_000).fill(lists(50)).join(',')}]`,
    '5',
  ])('is read like any JSON (%#)', (text) => expect(boundedJson(text)).toEqual(JSON.parse(text)));

  it.each(['', '[', '"', '"\\', '"\\"', '{"a":}', ']', '[1,]', 'NaN'])('is refused where it is none: %j', (text) =>
    expect(() => boundedJson(text)).toThrow(SyntaxError),
  );

  it.each<[string, string, RegExp]>([
    ['deep lists', lists(101), /^it is nested deeper than 100 levels$/],
    ['deep maps', `${'{"a":'.repeat(101)}1${'}'.repeat(101)}`, /^it is nested deeper than 100 levels$/],
    [
      'a deep list behind a text with quotes',
      `["\\"", "\\\\", ${lists(100)}]`,
      /^it is nested deeper than 100 levels$/,
    ],
    ['many numbers', `[${'1,'.repeat(9_000_000)}1]`, /^it has more than 8388608 values$/],
    ['many keys', `{${'"":1,'.repeat(9_000_000)}"":1}`, /^it has more than 8388608 values$/],
  ])('is refused with the bound: %s', (_, text, says) => expect(() => boundedJson(text)).toThrow(says));
});

import { describe, expect, it } from 'vitest';
import { matches } from '../../../lib/systems/input/pattern.js';

describe('a pattern of a user', () => {
  it('matches like RegExp, with the same result twice', async () => {
    for (const text of ['/opt/Layer.so', '/opt/other.so'])
      for (let time = 0; time < 2; time++) expect(await matches(/layer/i, text)).toBe(/layer/i.test(text));
  });

  it('is stopped at its time limit', async () =>
    expect(await matches(/^(0+)+$x/, '0'.repeat(100), { limitMs: 300 })).toBeNull());

  it('that took too long once is not tried again for any text', async () => {
    const pattern = /^(1+)+$x/;
    expect(await matches(pattern, '1'.repeat(100), { limitMs: 50 })).toBeNull();
    // Each would never finish: as one is stopped, the others are not started.
    const texts = Array.from({ length: 100 }, (_, i) => '1'.repeat(101 + i));
    const again = texts.map((text) => matches(pattern, text, { limitMs: 2 ** 30 }));
    expect(await Promise.all(again)).toEqual(texts.map(() => null));
  });

  it('leaves the event loop free, and is stopped by an abort, with its reason', async () => {
    const controller = new AbortController();
    const matching = matches(/^(2+)+$x/, '2'.repeat(100), { signal: controller.signal, limitMs: 2 ** 30 });
    let ticks = 0;
    const timer = setInterval(() => ++ticks === 3 && controller.abort(new Error('enough')), 10);
    await expect(matching).rejects.toThrow('enough');
    clearInterval(timer);
    await expect(matches(/a/, 'a', { signal: controller.signal })).rejects.toThrow('enough');
  });
});

import { describe, expect, it } from 'vitest';
import { Once } from '../../../lib/metrics/core/once.js';

describe('what metrics share', () => {
  it('is computed once, even for concurrent requests', async () => {
    const once = new Once();
    let made = 0;
    const make = async () => {
      await Promise.resolve();
      return ++made;
    };
    expect(await Promise.all([once.get('a', make), once.get('a', make)])).toEqual([1, 1]);
    expect(await once.get('a', make)).toBe(1);
    expect(await once.get('b', make)).toBe(2);
  });

  it('is tried again after a failure', async () => {
    const once = new Once();
    await expect(once.get('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await once.get('a', () => Promise.resolve(3))).toBe(3);
  });
});

import { describe, expect, it } from 'vitest';
import { matches } from '../../lib/systems/pattern.js';

describe('a pattern of a user', () => {
  it('matches as the language has it, twice alike', async () => {
    for (const text of ['/opt/Layer.so', '/opt/other.so'])
      for (let time = 0; time < 2; time++) expect(await matches(/layer/i, text)).toBe(/layer/i.test(text));
  });

  it('that would take for ever is stopped, while everything else continues', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    expect(await matches(/^(0+)+$x/, '0'.repeat(100), 300)).toBeNull();
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(1);
  });
});

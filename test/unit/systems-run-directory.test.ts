import { describe, expect, it } from 'vitest';
import { isOfOneRun, lasting } from '../../lib/systems/run-directory.js';

describe('a path in the directory of a run', () => {
  it.each([
    ['/tmp/gvb-aB3xYz/hami-core/cache-0-2', '/tmp/{runDir}'],
    ['/tmp/gvb-aB3xYz', '/tmp/{runDir}'],
    ['a=/tmp/gvb-aB3xYz/x;b=/tmp/gvb-aB3xYz/y', 'a=/tmp/{runDir};b=/tmp/{runDir}'],
  ])('%s is the same in every session', (value, text) => {
    expect(lasting(value)).toBe(text);
    expect([isOfOneRun(value), isOfOneRun(value)]).toEqual([true, true]);
  });

  it.each(['/opt/gvb-interpose/libx.so', '/opt/gvb-1/x', '/tmp/xgvb-aB3xYz/x', '10g', ''])('is not %j', (value) => {
    expect(lasting(value)).toBe(value);
    expect(isOfOneRun(value)).toBe(false);
  });
});

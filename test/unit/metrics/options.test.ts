import { afterEach, describe, expect, it, vi } from 'vitest';
import type { MeasureOptions } from '../../../lib/metrics/core/metric.js';
import { resolveOptions } from '../../../lib/metrics/core/options.js';

// test/native/library.test.ts checks the errors of every option, at the functions that throw them.
afterEach(() => vi.unstubAllEnvs());

describe('resolveOptions', () => {
  it('fills in defaults', () => {
    expect(resolveOptions()).toEqual({
      device: null,
      warmup: null,
      iterations: null,
      resolution: 0.01,
      path: 'runtime',
      simulate: false,
      samples: false,
      tier: 'quick',
      seed: expect.any(Number),
      workload: 'T2',
      model: null,
    });
    expect(resolveOptions({})).toEqual({ ...resolveOptions(), seed: expect.any(Number) });
  });

  it('draws a new seed each time, within the range it accepts', () => {
    const seeds = Array.from({ length: 50 }, () => resolveOptions().seed);
    expect(new Set(seeds).size).toBe(50);
    for (const seed of seeds) expect(resolveOptions({ seed }).seed).toBe(seed);
  });

  it.each([
    { warmup: 0 },
    { iterations: 1 },
    { iterations: 10_000_000 },
    { resolution: 1 },
    { resolution: Number.MIN_VALUE },
    { path: 'linked' },
    { seed: 0 },
    { seed: 2 ** 48 - 1 },
    { device: 1023 },
    { device: 'GPU-1aaaaaaa-0000-0000-0000-000000000000' },
    { device: 'MIG-1aaaaaaa-0000-0000-0000-000000000000' },
    { tier: 'thorough', samples: true, simulate: true },
  ] as const)('keeps %j', (options) => expect(resolveOptions(options)).toMatchObject(options));

  it('fills in the defaults of a model', () =>
    expect(resolveOptions({ model: { layers: 2, hidden: 512, heads: 4, kvHeads: 2 } }).model).toEqual({
      layers: 2,
      hidden: 512,
      heads: 4,
      kvHeads: 2,
      mlp: 1792,
      vocabulary: 32_000,
    }));

  it.each<[object, string]>([
    [{ workload: 'T7' }, "Expected workload to be one of T1, T2, T3, T4, T5, T6 but received 'T7'."],
    [{ model: { layers: 2 } }, 'Expected model to have layers, hidden and heads but received only some of them.'],
    [
      { model: { layers: 2, hidden: 512, heads: 4, experts: 8 } },
      "Expected model to have sizes out of layers, hidden, heads, kvHeads, mlp, vocabulary but received 'experts'.",
    ],
    [
      { model: { layers: 0, hidden: 512, heads: 4 } },
      'Expected model.layers to be an integer from 1 to 256 but received 0.',
    ],
    [
      { model: { layers: 1, hidden: 512, heads: 2 } },
      'Expected model.hidden / model.heads to be 64 or 128 but received 256.',
    ],
    [
      { model: { layers: 1, hidden: 2048, heads: 16, kvHeads: 1 } },
      'Expected model.heads / model.kvHeads to be an integer from 1 to 8 but received 16.',
    ],
    [
      { model: { layers: 1, hidden: 512, heads: 4, mlp: 100 } },
      'Expected model.mlp to be a multiple of 64 but received 100.',
    ],
    [
      { model: { layers: 1, hidden: 512, heads: 4, vocabulary: 3 } },
      'Expected model.vocabulary to be even but received 3.',
    ],
  ])('refuses %j', (options, message) =>
    expect(() => resolveOptions(options as MeasureOptions)).toThrow(new RangeError(message)),
  );

  it('reads an index given as text', () => expect(resolveOptions({ device: '12' }).device).toBe(12));

  it('treats undefined as not given', () =>
    expect(resolveOptions({ iterations: undefined, device: undefined } as object).iterations).toBeNull());

  it('leaves CUDA_VISIBLE_DEVICES to the driver, which has already filtered by it', () => {
    vi.stubEnv('CUDA_VISIBLE_DEVICES', '3,4');
    expect(resolveOptions().device).toBeNull();
    expect(resolveOptions({ device: 5 }).device).toBe(5);
  });

  it('leaves a signal and a callback to the caller', () => {
    const resolved = resolveOptions({ signal: new AbortController().signal, onProgress: () => {} });
    expect(Object.keys(resolved)).not.toContain('signal');
    expect(Object.keys(resolved)).not.toContain('onProgress');
  });

  it('refuses names that every object has', () => {
    expect(() => resolveOptions({ toString: 1 } as object)).toThrow(/received 'toString'/);
    expect(() => resolveOptions(JSON.parse('{"__proto__": 1}'))).toThrow(/received '__proto__'/);
  });
});

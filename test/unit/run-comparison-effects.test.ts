import { describe, expect, it } from 'vitest';
import type { MetricResult, RunDocument } from '../../lib/results/document.js';
import { implausibleInit } from '../../lib/metrics/early-initialisation.js';
import { effects } from '../../lib/run/comparison-effects.js';
import { device, metric, result, runDocument } from './run-fixtures.js';

const launch = metric('OH-001');

/** A system's rounds, with the same result in each. */
const rounds = (name: string, count: number, change: Partial<MetricResult>, document: Partial<RunDocument> = {}) =>
  Array.from({ length: count }, () =>
    runDocument({
      system: { name, kind: 'native', settings: {}, attestation: [] },
      metrics: [result('OH-001', change)],
      ...document,
    }),
  );

describe('the effects of a comparison', () => {
  it('have a bootstrap interval from ten rounds on', () => {
    const of = (count: number) =>
      effects([launch], [rounds('a', count, { value: 2 }), rounds('b', count, { value: 3 })], 1)[0];
    expect(of(9)).toMatchObject({ rounds: 9, bootstrapCi95: null });
    expect(of(10)?.bootstrapCi95?.[0]).toBeCloseTo(1.5, 12);
  });

  it('draw the blocks of a process with the given seed', () => {
    const baseline = rounds('a', 10, { value: 2, blocks: [1, 2, 3] });
    const drawn = (seed: number) =>
      effects([launch], [baseline, rounds('b', 10, { value: 2 })], seed)[0]?.bootstrapCi95;
    expect(drawn(1)?.[0]).toBeLessThan(1);
    expect(drawn(1)?.[1]).toBeGreaterThan(1);
    expect(drawn(1)).toEqual(drawn(1));
    expect(drawn(1)).not.toEqual(drawn(2));
  });

  it('are invalid, without a number, between a simulated and a real GPU, in any round', () => {
    const simulated = { gpu: [{ ...device(0), simulated: true }] };
    const real = (count: number) => rounds('a', count, { value: 2 });
    const later = [...real(4), ...rounds('b', 1, { value: 3 }, simulated)];
    for (const system of [rounds('b', 5, { value: 3 }, simulated), later])
      expect(effects([launch], [real(5), system], 1)).toMatchObject([
        {
          verdict: 'invalid',
          reason: 'measured partly on a simulated and partly on a real GPU',
          rounds: 0,
          ratio: null,
          ratioCi95: null,
          difference: null,
          differenceCi95: null,
          pValues: { welch: null, mannWhitney: null },
        },
      ]);
  });

  it('are invalid between values of different numbers of processes', () => {
    const starts = {
      ...launch,
      comparedAt: { name: 'largest', of: ({ largest }: MetricResult['details']) => largest },
    };
    const of = (name: string, largest: number) => rounds(name, 2, { value: 2, details: { largest } });
    const [found] = effects([starts], [of('a', 50), of('b', 10)], 1);
    expect(found).toMatchObject({ verdict: 'invalid', reason: 'largest is 10 against 50', rounds: 0, ratio: null });
    expect(effects([starts], [of('a', 50), of('b', 50)], 1)).toMatchObject([{ verdict: 'same', rounds: 2 }]);
  });

  it('are invalid if cuInit took less than a hundredth of the native arm’s', () => {
    const start = { ...launch, besideNative: implausibleInit };
    const of = (name: string, valueMs: number) =>
      rounds(name, 2, { value: 2, details: { steps: [{ step: 'init', valueMs }] } });
    const [found] = effects([start], [of('native', 98), of('b', 0.004)], 1);
    expect(found).toMatchObject({ verdict: 'invalid', rounds: 0, ratio: null });
    expect(found?.reason).toBe("the driver was initialised before cuInit: it took 0.0041 % of the native arm's");
    expect(effects([start], [of('native', 98), of('b', 10)], 1)).toMatchObject([{ verdict: 'same', rounds: 2 }]);
  });

  it('ignore the details of an invalid or failed result', () => {
    const throughput = {
      ...metric('OH-001'),
      delta: { absolute: 1 },
      againstNative: {
        arm: ({ rate }: MetricResult['details']) => (typeof rate === 'number' ? rate : null),
        difference: (system: number, native: number) => 100 * (1 - system / native),
      },
    };
    const of = (name: string, rate: number, status: MetricResult['status'] = 'unsupported') =>
      rounds(name, 2, { status, value: null, details: { rate } });
    expect(effects([throughput], [of('a', 50), of('b', 20)], 1)).toMatchObject([{ difference: 60, rounds: 2 }]);
    const [invalid] = effects([throughput], [of('a', 50), of('b', 20, 'invalid')], 1);
    expect(invalid).toMatchObject({ verdict: 'invalid', difference: null, rounds: 0 });
    expect(effects([throughput], [of('a', 50, 'failed'), of('b', 20)], 1)).toEqual([]);
  });

  it('are as valid between simulated GPUs as between real ones', () => {
    const simulated = { gpu: [{ ...device(0), simulated: true }] };
    const [found] = effects([launch], [rounds('a', 2, {}, simulated), rounds('b', 2, {}, simulated)], 1);
    expect(found).toMatchObject({ verdict: 'same', rounds: 2 });
  });
});

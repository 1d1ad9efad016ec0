/** Values of tenants that stream together, and their intervals, for rates with known results. */
import { describe, expect, it } from 'vitest';
import { worstOf } from '../../../lib/metrics/bandwidth/bw-001-bandwidth-isolation.js';
import { aloneChecks, aloneIn, togetherIn } from '../../../lib/metrics/bandwidth/streams.js';
import { worstLoss, worstLossCi95 } from '../../../lib/metrics/cache/cache-003-collision.js';
import type { StreamWindow } from '../../../lib/native/addon-types.js';
import { jain, jainCi95 } from '../../../lib/stats/jain.js';
import { seededRandom } from '../../../lib/stats/random.js';

const TENANTS = 4;
const BINS = 60;

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Tenants that move the same and take from each other: what one has more in a bin, the others have less. */
function equalTenants(seed: number) {
  const random = seededRandom(seed);
  const half = Array.from({ length: BINS / 2 }, () => Array.from({ length: TENANTS }, () => 100 * (random() - 0.5)));
  const more = half.map((bin) => bin.map((value) => value - mean(bin)));
  const bins = [...more, ...more.map((bin) => bin.map((value) => -value))];
  const binned = Array.from({ length: TENANTS }, (_, tenant) =>
    bins.map((bin) => 1_000 + tenant / 10 + (bin[tenant] as number)),
  );
  return { binned, rates: binned.map(mean) };
}

/** Windows of one tenant alone, which vary by 1 %. */
function aloneOf(seed: number): number[] {
  const random = seededRandom(-seed);
  return Array.from({ length: 6 }, () => 4_000 + 40 * (random() - 0.5));
}

/** How many of 200 values lie outside of their own interval. */
const outside = (figures: (seed: number) => [value: number, ci95: [number, number] | null]): number =>
  Array.from({ length: 200 }, (_, i) => figures(i + 1)).filter(
    ([value, ci95]) => ci95 === null || value < ci95[0] || value > ci95[1],
  ).length;

describe('the interval of one of several equal tenants contains its value', () => {
  it('for the lowest rate', () =>
    expect(
      outside((seed) => {
        const { worstPercent, ci95 } = worstOf(equalTenants(seed), aloneOf(seed));
        return [worstPercent, ci95];
      }),
    ).toBe(0));

  it('for the largest loss', () =>
    expect(
      outside((seed) => {
        const [apart, colliding] = [equalTenants(seed), equalTenants(1_000 + seed)];
        return [worstLoss(apart.rates, colliding.rates), worstLossCi95(apart, colliding)];
      }),
    ).toBe(0));

  it("for Jain's index, which stays at most 1", () =>
    expect(
      outside((seed) => {
        const { binned, rates } = equalTenants(seed);
        const ci95 = jainCi95(binned, seed);
        return [jain(rates) as number, (ci95?.[1] ?? 2) <= 1 ? ci95 : null];
      }),
    ).toBe(0));
});

describe('one tenant alone', () => {
  /** The window of a kernel of 1 ms that reads so many MB, which is as many GB/s. */
  const window = (megabytes: number): StreamWindow => ({
    originMs: 0,
    fromNs: [0],
    toNs: [1e6],
    movedBytes: 1e6 * megabytes,
    bytes: 64,
    blocks: 264,
    multiprocessors: 132,
    dramCeilingGbs: 4_800,
  });
  const steadiness = (rates: readonly number[]) => aloneChecks('read', aloneIn(rates.map(window)))[1];

  it('has the rate of most of its windows, of which one may be slow', () => {
    const rates = [4_351, 4_521, 4_518, 4_522, 4_520, 4_519];
    expect(aloneIn(rates.map(window))).toMatchObject({ gbPerSecond: 4_519.5, windows: rates });
    expect(steadiness(rates)).toMatchObject({ passed: true });
    expect(steadiness([4_000, ...rates.slice(1)])).toMatchObject({ passed: true });
  });

  it('is refused if two windows differ from the others', () => {
    expect(steadiness([4_200, 4_250, 4_518, 4_522, 4_520, 4_519])).toMatchObject({
      name: 'read alone: at most one window differs by more than 5 % from the median',
      passed: false,
    });
  });
});

it("a tenant's rate is the mean of its whole bins", () => {
  // Kernels of 1 ms and 1 MB without a pause for 250 ms, the last 50 ms at half the rate.
  const kernels = [
    ...Array.from({ length: 200 }, (_, i) => ({ fromNs: i * 1e6, toNs: (i + 1) * 1e6 })),
    ...Array.from({ length: 25 }, (_, i) => ({ fromNs: 2e8 + i * 2e6, toNs: 2e8 + (i + 1) * 2e6 })),
  ];
  const streamed = { gbPerSecond: 0, fromNs: 0, toNs: 2.5e8, kernels, movedBytes: 1e6, ceilingGbs: 0 };
  const found = togetherIn([streamed], 100);
  expect(found?.binned[0]).toHaveLength(2);
  expect(found?.rates[0]).toBeCloseTo(1, 9);
  expect(found?.spanMs).toBeCloseTo(200, 9);
});

import { describe, expect, it } from 'vitest';
import { collect, concat, type Plan } from '../../../lib/metrics/core/collect.js';
import { seededRandom } from '../../../lib/stats/random.js';

const plan = (change: Partial<Plan> = {}): Plan => ({
  iterations: null,
  resolution: 0.01,
  blockSize: 50,
  cap: 1_000,
  ...change,
});

/** Collects from a source of samples and records the requests to it. */
async function run(wanted: Plan, sample: (index: number) => number) {
  const asked: [count: number, fraction: number][] = [];
  let index = 0;
  const collected = await collect(
    wanted,
    async (count, fraction) => {
      asked.push([count, fraction]);
      return { samples: Float64Array.from({ length: count }, () => sample(index++)) };
    },
    (block) => block.samples,
  );
  return { asked, ...collected };
}

const uniform = (spread: number) => {
  const random = seededRandom(1);
  return () => 100 + spread * (random() - 0.5);
};

describe('collect', () => {
  it.each([
    [1, [1]],
    [49, [49]],
    [50, [50]],
    [120, [50, 50, 20]],
  ])('takes exactly %i samples on request', async (iterations, counts) => {
    const { samples, stop, asked, blocks } = await run(plan({ iterations }), uniform(100));
    expect(samples).toHaveLength(iterations);
    expect(asked.map(([count]) => count)).toEqual(counts);
    expect(blocks).toHaveLength(counts.length);
    expect(stop).toBe('iterations');
  });

  it('does not stop early, or at the cap, with a requested number', async () => {
    const { samples, stop } = await run(plan({ iterations: 3_000, cap: 100, resolution: 1 }), () => 5);
    expect(samples).toHaveLength(3_000);
    expect(stop).toBe('iterations');
  });

  it('stops after one block when the resolution is reached', async () => {
    const { samples, stop, estimate } = await run(plan(), uniform(1));
    expect([samples.length, stop]).toEqual([50, 'resolution reached']);
    expect(estimate.value).toBeCloseTo(100, 0);
  });

  it('continues until it is', async () => {
    const { samples, stop, estimate } = await run(plan({ resolution: 0.02, cap: 100_000 }), uniform(60));
    expect(stop).toBe('resolution reached');
    expect(samples.length).toBeGreaterThan(50);
    const [low, high] = estimate.ci95 as [number, number];
    expect((high - low) / 2 / estimate.value).toBeLessThanOrEqual(0.02);
  });

  it('stops when noise no longer falls', async () => {
    // Two equally frequent levels: the interval of the median spans both, however many samples there are.
    const { samples, stop } = await run(plan({ cap: 100_000 }), (i) => (i % 2 ? 90 : 110));
    expect([samples.length, stop]).toEqual([400, 'noise stopped falling']);
  });

  it('does not stop while noise still falls', async () => {
    const { stop, samples } = await run(plan({ resolution: 1e-9, cap: 20_000 }), uniform(200));
    expect(['cap of samples', 'noise stopped falling']).toContain(stop);
    expect(samples.length).toBeGreaterThanOrEqual(400);
  });

  it('stops at the cap', async () => {
    const { samples, stop, asked } = await run(plan({ resolution: 1e-9, cap: 130 }), uniform(200));
    expect([samples.length, stop]).toEqual([130, 'cap of samples']);
    expect(asked.map(([count]) => count)).toEqual([50, 50, 30]);
  });

  it('never counts a median of 0 as resolved', async () => {
    const { stop } = await run(plan({ cap: 200 }), (i) => (i % 2 ? -1 : 1) * (i % 5));
    expect(stop).toBe('cap of samples');
  });

  it('reports progress from 0, rising, below 1', async () => {
    const { asked } = await run(plan({ iterations: 230 }), () => 1);
    const fractions = asked.map(([, fraction]) => fraction);
    expect(fractions).toEqual([0, 50 / 230, 100 / 230, 150 / 230, 200 / 230]);
  });

  it('keeps the order of samples', async () => {
    const { samples } = await run(plan({ iterations: 120 }), (i) => i);
    expect([...samples]).toEqual(Array.from({ length: 120 }, (_, i) => i));
  });

  it('forwards a failure', async () => {
    const lost = new Error('lost');
    await expect(
      collect(
        plan(),
        () => Promise.reject(lost),
        () => new Float64Array(0),
      ),
    ).rejects.toBe(lost);
  });
});

describe('concat', () => {
  it('joins in order', () =>
    expect([...concat(Float64Array.of(1, 2), new Float64Array(0), Float64Array.of(3))]).toEqual([1, 2, 3]));
  it('of nothing is empty', () => expect(concat()).toHaveLength(0));
});

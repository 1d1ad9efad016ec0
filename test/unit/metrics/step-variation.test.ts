import { describe, expect, it } from 'vitest';
import { meanBatch, stepVariation } from '../../../lib/metrics/llm/step-variation.js';
import { shuffled } from '../../../lib/stats/random.js';

/** `count` steps of a batch, alternately longer and shorter than `medianNs` by `part`; one is at the median. */
const steps = (batch: number, count: number, medianNs: number, part: number) =>
  Array.from({ length: count }, (_, i) => ({
    batch,
    ns: medianNs * (i === 0 ? 1 : 1 + (i % 2 === 0 ? part : -part)),
  }));

const columns = (all: readonly { batch: number; ns: number }[]) => ({
  stepNs: all.map(({ ns }) => ns),
  stepBatch: all.map(({ batch }) => batch),
});

describe('variation of steps', () => {
  it('excludes variation explained by batch sizes', () => {
    const all = columns([...steps(1, 101, 100, 0), ...steps(8, 101, 900, 0)]);
    expect(stepVariation(all, 50)).toMatchObject({ cv: 0, ci95: null });
  });

  it('pools the sizes relative to their own medians', () => {
    const all = columns([...steps(1, 201, 100, 0.1), ...steps(8, 201, 900, 0.1)]);
    const { cv, ci95, sizes } = stepVariation(all, 50) ?? { cv: 0, ci95: [0, 0], sizes: [] };
    expect(cv).toBeCloseTo(0.1, 3);
    const [low, high] = ci95 ?? [Number.NaN, Number.NaN];
    expect(low).toBeLessThanOrEqual(cv);
    expect(high).toBeGreaterThanOrEqual(cv);
    expect(sizes).toEqual([
      { batch: 1, steps: 201, medianNs: 100 },
      { batch: 8, steps: 201, medianNs: 900 },
    ]);
  });

  it('leaves out sizes with too few steps, and is null without others', () => {
    const few = steps(2, 10, 500, 0.5);
    expect(stepVariation(columns([...few, ...steps(1, 101, 100, 0)]), 50)).toMatchObject({
      cv: 0,
      sizes: [{ batch: 1 }],
    });
    expect(stepVariation(columns(few), 50)).toBeNull();
  });

  it('has a wider interval if disturbances are clustered', () => {
    const calm = steps(4, 1_901, 100, 0.01);
    const disturbed = (isDisturbed: (place: number) => boolean) =>
      columns(calm.map((step, i) => (isDisturbed(i) ? { ...step, ns: i % 2 === 0 ? 150 : 50 } : step)));
    // As many of them: ten in a row at random places, or one at a time.
    const bursts = new Set(
      shuffled(
        Array.from({ length: 190 }, (_, i) => i),
        1,
      ).slice(0, 10),
    );
    const [burst, spread] = [disturbed((i) => bursts.has(Math.floor(i / 10))), disturbed((i) => i % 19 === 0)];
    const width = (of: ReturnType<typeof columns>) => {
      const [from, to] = stepVariation(of, 50)?.ci95 ?? [0, 0];
      return to - from;
    };
    expect(width(spread)).toBeGreaterThan(0);
    expect(width(burst)).toBeGreaterThan(2 * width(spread));
  });
});

describe('the mean batch', () => {
  it('is that of all steps', () => {
    expect(meanBatch([1, 1, 4])).toBe(2);
  });

  it('is null without a step', () => {
    expect(meanBatch([])).toBeNull();
  });
});

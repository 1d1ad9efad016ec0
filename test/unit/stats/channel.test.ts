/** What an observer learns of a secret bit: known errors, exact intervals, and chance. */
import { describe, expect, it } from 'vitest';
import {
  bestClassifier,
  bitsOf,
  chanceOf,
  type Errors,
  errorInterval,
  errorsOf,
  leastChance,
  type Slot,
} from '../../../lib/stats/channel.js';
import { seededRandom } from '../../../lib/stats/random.js';

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
const slot = (secret: boolean, ...signals: number[]): Slot => ({ secret, signals });

describe('the bits of an error rate', () => {
  it.each([
    [0, 1],
    [0.01, 0.9192],
    [0.11, 0.5001],
    [0.25, 0.1887],
    [0.5, 0],
  ])('of %d are %d', (error, bits) => expect(bitsOf(error)).toBeCloseTo(bits, 4));

  it.each([0.6, 1])('of %d are none: who is wrong more often than right has learned nothing', (error) =>
    expect(bitsOf(error)).toBe(0),
  );
});

describe('the exact interval of an error rate', () => {
  // C. J. Clopper & E. S. Pearson; the same as binom.test of R.
  it.each<[Errors, number, number]>([
    [{ wrong: 0, slots: 10 }, 0, 0.3085],
    [{ wrong: 1, slots: 10 }, 0.0025, 0.445],
    [{ wrong: 5, slots: 10 }, 0.1871, 0.8129],
    [{ wrong: 10, slots: 10 }, 0.6915, 1],
    [{ wrong: 3, slots: 100 }, 0.0062, 0.0852],
  ])('of %j is %d to %d', (errors, low, high) => {
    const found = errorInterval(errors);
    expect(found[0]).toBeCloseTo(low, 4);
    expect(found[1]).toBeCloseTo(high, 4);
  });

  it('covers the true rate in at least 95 % of seeded runs', () => {
    const random = seededRandom(1);
    const covered = upTo(400).filter(() => {
      const [low, high] = errorInterval({ wrong: upTo(40).filter(() => random() < 0.3).length, slots: 40 });
      return low <= 0.3 && 0.3 <= high;
    });
    expect(covered.length / 400).toBeGreaterThanOrEqual(0.95);
  });
});

describe('the best classifier', () => {
  const training = [slot(false, 5, 10), slot(true, 5, 20), slot(false, 7, 12), slot(true, 7, 21)];

  it('looks at the signal that tells the slots apart, at a threshold between them', () => {
    expect(bestClassifier(training)).toEqual({ signal: 1, threshold: 16, above: true, wrong: 0, slots: 4 });
  });

  it('finds a signal that falls, too', () => {
    const falling = training.map(({ secret, signals }) => ({ secret: !secret, signals }));
    expect(bestClassifier(falling)).toMatchObject({ signal: 1, above: false, wrong: 0 });
  });

  it('is wrong in other slots as often as these differ', () => {
    const other = [slot(true, 0, 15), slot(true, 0, 17), slot(false, 0, 3), slot(false, 0, 40)];
    expect(errorsOf(bestClassifier(training), other)).toEqual({ wrong: 2, slots: 4 });
  });

  it('is wrong in half of the slots if all look the same', () => {
    const same = upTo(8).map((i) => slot(i % 2 === 0, 3));
    expect(bestClassifier(same)).toMatchObject({ wrong: 4, slots: 8 });
  });
});

describe('chance', () => {
  const classifier = { signal: 0, threshold: 0.5, above: true };
  const apart = (slots: number) => upTo(slots).map((i) => slot(i % 2 === 0, i % 2 === 0 ? 1 : 0));

  it('is wrong in half of the slots, and seldom as right as a classifier that knows', () => {
    const { error, p } = chanceOf(classifier, apart(20), 1);
    expect(error).toBeCloseTo(0.5, 1);
    // One order of 184756.
    expect(p).toBe(1 / 2_000);
  });

  it('is as right as a classifier of few slots as often as their orders allow', () => {
    // One order of six.
    expect(chanceOf(classifier, apart(4), 1).p).toBeCloseTo(1 / 6, 1);
    expect(leastChance(4)).toBeCloseTo(1 / 6, 12);
    expect(leastChance(20)).toBeCloseTo(1 / 184_756, 12);
  });

  it('is always as right as a classifier that says the same of all', () => {
    expect(chanceOf({ ...classifier, threshold: 9 }, apart(20), 1)).toEqual({ error: 0.5, p: 1 });
  });
});

// What power.js and detection.js share: random numbers, the rounds of the tiers, and how often a verdict finds an effect.
import { effectsOf } from '../dist/run/effects/family.js';
import { gaussianFrom, seededRandom } from '../dist/stats/random.js';

/** Rounds of the tiers quick, standard and thorough. */
export const TIERS = [{ rounds: 2 }, { rounds: 5 }, { rounds: 10 }];

/** Uniform numbers from 0 to 1, the same every time. */
export const uniform = seededRandom;

/** Standard normal numbers. */
export const normal = (seed) => gaussianFrom(uniform(seed));

/** Share of comparisons whose verdict on a metric is `slower`, when `draw` makes the values of both arms. */
export function detected(metric, draw, times) {
  const random = uniform(1);
  let found = 0;
  for (let i = 0; i < times; i++) {
    const [own] = effectsOf([{ metric, ...draw(random), invalid: null }], 'layer', 'native');
    if (own.verdict === 'slower') found++;
  }
  return found / times;
}

export const percent = (share) => `${Math.round(100 * share)} %`;

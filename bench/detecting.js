// What power.js and detection.js share: random numbers, the rounds of the tiers, and how often a verdict finds an effect.
import { effectsOf } from '../dist/run/family.js';

/** Rounds of the tiers quick, standard and thorough. */
export const TIERS = [{ rounds: 2 }, { rounds: 5 }, { rounds: 10 }];

/** Uniform numbers from 0 to 1 by mulberry32, so that the tables are the same every time. */
export function uniform(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Standard normal numbers by the Box-Muller transform. */
export function normal(seed) {
  const random = uniform(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

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

// What power.js and detection.js share: the rounds of the tiers, and when a comparison has detected an effect.
import { mean, sampleStandardDeviation } from 'simple-statistics';

/** Rounds of the tiers quick, standard and thorough, with the two-sided 95 % quantiles of Student's t for them. */
export const TIERS = [
  { rounds: 2, t: 12.706 },
  { rounds: 5, t: 2.776 },
  { rounds: 10, t: 2.262 },
];

/** Whether the 95 % interval of the ratio lies above 1, from the logarithm of the ratio in each round. */
const isDetected = (logs, { t }) => mean(logs) > (t * sampleStandardDeviation(logs)) / Math.sqrt(logs.length);

/** Uniform numbers from 0 to 1 by mulberry32, so that the tables are the same every time. */
function uniform(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Share of comparisons that detect an effect, when `draw` makes the logarithms of one from random numbers. */
export function detected(draw, tier, times) {
  const random = uniform(1);
  let found = 0;
  for (let i = 0; i < times; i++) if (isDetected(draw(random), tier)) found++;
  return found / times;
}

export const percent = (share) => `${Math.round(100 * share)} %`;

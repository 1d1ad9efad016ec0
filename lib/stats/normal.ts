/** The standard normal distribution, accurate in the far tail, where p values lie. */

/** Bound below which the series converges fast, and above it the continued fraction. */
const SERIES_BELOW = 3;

const density = (z: number): number => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);

/** P(0 < Z < z) (Abramowitz & Stegun 26.2.11). */
function fromZero(z: number): number {
  let [term, sum] = [z, z];
  for (let i = 1; term > 1e-18 * sum; i++) {
    term *= (z * z) / (2 * i + 1);
    sum += term;
  }
  return density(z) * sum;
}

/** P(Z > z) for a large z (Abramowitz & Stegun 26.2.14), from its 100th level. */
function farTail(z: number): number {
  let below = z;
  for (let level = 100; level >= 1; level--) below = z + level / below;
  return density(z) / below;
}

/** P(Z > z). */
export function normalUpperTail(z: number): number {
  if (z < 0) return 1 - normalUpperTail(-z);
  return z < SERIES_BELOW ? 0.5 - fromZero(z) : farTail(z);
}

/** Student's t distribution, for which simple-statistics has no quantiles. Checked against published tables. */
import { probit } from 'simple-statistics';

/** Lanczos approximation (g = 7, n = 9), relative error below 1e-13 for x > 0. */
function logGamma(x: number): number {
  const coefficients = [
    676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
    -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
  ];
  const sum = coefficients.reduce((total, c, i) => total + c / (x + i), 0.9999999999998099);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

const TINY = 1e-300;
const awayFromZero = (x: number) => (Math.abs(x) < TINY ? TINY : x);

/** Continued fraction of the incomplete beta function by Lentz's method (Numerical Recipes, section 6.4). */
function betaFraction(a: number, b: number, x: number): number {
  let c = 1;
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / awayFromZero(1 + even * d);
    c = awayFromZero(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / awayFromZero(1 + odd * d);
    c = awayFromZero(1 + odd / c);
    const step = d * c;
    fraction *= step;
    if (Math.abs(step - 1) < 1e-15) break;
  }
  return fraction;
}

function regularisedBeta(a: number, b: number, x: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  // The fraction converges fast only on one side of the mean; the other side follows by symmetry.
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(a, b, x)) / a : 1 - (front * betaFraction(b, a, 1 - x)) / b;
}

/** P(T > t) for `df` degrees of freedom; accurate in the far tail, where p values lie. */
export function tUpperTail(t: number, df: number): number {
  const tail = 0.5 * regularisedBeta(df / 2, 0.5, df / (df + t * t));
  return t >= 0 ? tail : 1 - tail;
}

/** A critical value within a few per cent, from the normal distribution (Wallace, Ann. Math. Statist. 30, 1959). */
function roughCritical(alpha: number, df: number): number {
  const z = (probit(1 - alpha / 2) * (8 * df + 3)) / (8 * df + 1);
  return Math.sqrt(df * Math.expm1((z * z) / df));
}

/**
 * The t with P(|T| > t) = `alpha`: half the width of a confidence interval in standard errors. Newton's method on
 * logarithms, on which the tail is nearly straight.
 */
export function tCritical(alpha: number, df: number): number {
  const wanted = Math.log(alpha / 2);
  const constant = logGamma((df + 1) / 2) - logGamma(df / 2) - 0.5 * Math.log(df * Math.PI);
  let logT = Math.log(Math.max(TINY, roughCritical(alpha, df)));
  for (let i = 0; i < 100; i++) {
    const t = Math.exp(logT);
    const tail = tUpperTail(t, df);
    const logDensity = constant - ((df + 1) / 2) * Math.log1p((t * t) / df);
    const step = ((Math.log(tail) - wanted) * tail) / (t * Math.exp(logDensity));
    // Far from the root the tail bends.
    logT += Math.max(-2, Math.min(2, step));
    // Each step squares what is left: after this one it is below the precision of a number.
    if (Math.abs(step) < 1e-8) break;
  }
  return Math.exp(logT);
}

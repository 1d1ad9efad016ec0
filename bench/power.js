// The probability that a comparison detects an effect: by simulation, from how much rounds differed in recorded
// comparisons. Prints the table of docs/method.md. Usage: node bench/power.js DOCUMENT...
import { readFileSync } from 'node:fs';
import { median, sampleStandardDeviation } from 'simple-statistics';
import { listMetrics } from '../dist/index.js';
import { detected, percent, TIERS } from './detecting.js';

const EFFECTS = [0.02, 0.05, 0.1];
const RUNS = 20_000;

/** A standard normal number by the Box-Muller transform. */
const gaussian = (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** The logarithms of the ratios of one comparison. */
const simulated =
  (effect, sd, { rounds }) =>
  (random) =>
    Array.from({ length: rounds }, () => Math.log1p(effect) + sd * gaussian(random));

/** Other metrics are compared by differences, to which percentages do not apply. */
const byRatio = new Set(listMetrics().flatMap(({ id, delta }) => (delta.relative === undefined ? [] : [id])));

/**
 * For each metric, the standard deviation of the logarithm of the ratio between rounds, over all systems and documents.
 */
const deviations = new Map();
for (const file of process.argv.slice(2)) {
  const { systems } = JSON.parse(readFileSync(file, 'utf8'));
  const [baseline, ...others] = systems;
  const valueOf = (round, id) => round?.metrics.find((one) => one.id === id && one.status === 'ok')?.value ?? null;
  const ids = new Set(baseline.flatMap(({ metrics }) => metrics.map(({ id }) => id)));
  for (const id of [...ids].filter((one) => byRatio.has(one)))
    for (const system of others) {
      const logs = system.flatMap((round, i) => {
        const [a, b] = [valueOf(round, id), valueOf(baseline[i], id)];
        return a > 0 && b > 0 ? [Math.log(a / b)] : [];
      });
      if (logs.length >= 3) deviations.set(id, [...(deviations.get(id) ?? []), sampleStandardDeviation(logs)]);
    }
}
if (deviations.size === 0)
  throw new Error('Expected documents of comparisons with three rounds or more, as compare --json writes them.');

console.log(`| metric | between rounds | ${TIERS.map(({ rounds }) => `${rounds} rounds`).join(' | ')} |`);
console.log(`|---|---|${TIERS.map(() => '---').join('|')}|`);
for (const [id, all] of [...deviations].sort()) {
  const sd = median(all);
  const cells = TIERS.map((tier) =>
    EFFECTS.map((effect) => percent(detected(simulated(effect, sd, tier), tier, RUNS))).join(', '),
  );
  console.log(`| ${id} | ${(100 * sd).toFixed(1)} % | ${cells.join(' | ')} |`);
}

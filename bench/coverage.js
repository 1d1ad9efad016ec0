// How often 95 % intervals within a process cover the truth, by seeded simulation with the built package: medians and
// means of samples that depend on each other, Jain's index, and the worst of several tenants. Prints the tables of
// docs/method.md. Usage: node bench/coverage.js [RUNS]
import { jain, jainCi95 } from '../dist/stats/jain.js';
import { largestOf } from '../dist/stats/largest.js';
import { gaussianFrom, seededRandom } from '../dist/stats/random.js';
import { serialMean, serialMedian, serialTrimmedMean } from '../dist/stats/serial.js';
import { figureOfWindows } from '../dist/stats/figure-of-windows.js';

const RUNS = Number(process.argv[2] ?? 2_000);
if (!Number.isInteger(RUNS) || RUNS < 1) {
  console.error(`Expected RUNS to be an integer of at least 1 but received ${process.argv[2]}.`);
  process.exit(2);
}
const CORRELATIONS = [0, 0.3, 0.6, 0.9];
const COUNTS = [12, 20, 30, 50, 100, 200, 500, 1_000, 4_000];

/** Normal numbers around 0 with a variance of 1, of which neighbours correlate by `rho`. */
function series(gaussian, count, rho) {
  const samples = [gaussian()];
  while (samples.length < count) samples.push(rho * samples.at(-1) + Math.sqrt(1 - rho * rho) * gaussian());
  return samples;
}

/** Of all runs: the share with an interval, and that with one that misses. */
function simulate(once) {
  let [given, missed] = [0, 0];
  for (let seed = 1; seed <= RUNS; seed++) {
    const { ci95, truth } = once(gaussianFrom(seededRandom(seed)), seed);
    if (ci95 === null) continue;
    given++;
    if (truth < ci95[0] || truth > ci95[1]) missed++;
  }
  return { given, missed };
}

const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;
const cell = ({ given, missed }) =>
  given === 0
    ? 'none'
    : `${percent(given - missed, given)}${given < RUNS ? ` of ${percent(given, RUNS)}; ${percent(missed, RUNS)}` : ''}`;
const row = (cells) => console.log(`| ${cells.join(' | ')} |`);

function table(title, heads, rows) {
  console.log(`\n${title}\n`);
  row(heads);
  row(heads.map(() => '---'));
  for (const cells of rows) row(cells);
}

const ofSeries = (estimate) =>
  COUNTS.map((count) => [
    count,
    ...CORRELATIONS.map((rho) =>
      cell(simulate((gaussian) => ({ ci95: estimate(series(gaussian, count, rho)).ci95, truth: 0 }))),
    ),
  ]);
const correlations = CORRELATIONS.map((rho) => `ρ ${rho}`);

console.log(`${RUNS} runs each. Share of the intervals that cover; if not every run gives one: of how many, and the`);
console.log('share of all runs with an interval that misses.');
table('Median', ['samples', ...correlations], ofSeries(serialMedian));
table('Mean', ['samples', ...correlations], ofSeries(serialMean));
table('Trimmed mean', ['samples', ...correlations], ofSeries(serialTrimmedMean));

/** 10 around a level of 100: a ratio of the means of two series. */
const meanOf = (values, places) => places.reduce((sum, place) => sum + values[place], 0) / places.length;
table(
  'Ratio of the means of two series of windows',
  ['windows of each', ...correlations],
  [20, 50, 100, 300].map((count) => [
    count,
    ...CORRELATIONS.map((rho) =>
      cell(
        simulate((gaussian) => {
          const [a, b] = [90, 100].map((level) => series(gaussian, count, rho).map((value) => level + 10 * value));
          const ratio = ([own, other]) => meanOf(a, own) / meanOf(b, other);
          return { ci95: figureOfWindows([count, count], ratio, { isPositive: true }).ci95, truth: 0.9 };
        }),
      ),
    ),
  ]),
);

const SHARES = [
  [1, 1, 1, 1],
  [1, 1, 1, 1.05],
  [1, 1, 1, 1.3],
  [1, 1, 1, 3],
];
table(
  'Jain’s index of four tenants, windows with a standard deviation of 10 %',
  ['shares', 'index', ...[20, 50, 300].flatMap((count) => [0, 0.5].map((rho) => `${count} windows, ρ ${rho}`))],
  SHARES.map((shares) => [
    shares.join(' : '),
    jain(shares).toFixed(4),
    ...[20, 50, 300].flatMap((count) =>
      [0, 0.5].map((rho) =>
        cell(
          simulate((gaussian, seed) => {
            const windows = shares.map((share) =>
              series(gaussian, count, rho).map((value) => share * (1 + value / 10)),
            );
            return { ci95: jainCi95(windows, seed), truth: jain(shares) };
          }),
        ),
      ),
    ),
  ]),
);

/** Levels of `worse` standard deviations of a sample for the last one, and 0 for all others. */
table(
  'The worst of several medians, 40 samples each',
  ['tenants', ...[0, 0.5, 2].flatMap((worse) => [0, 0.3].map((rho) => `last worse by ${worse} sd, ρ ${rho}`))],
  [4, 11].map((tenants) => [
    tenants,
    ...[0, 0.5, 2].flatMap((worse) =>
      [0, 0.3].map((rho) =>
        cell(
          simulate((gaussian) => {
            const samples = Array.from({ length: tenants }, (_, tenant) =>
              series(gaussian, 40, rho).map((value) => value + (tenant === tenants - 1 ? worse : 0)),
            );
            const { ci95 } = largestOf(samples.map((own) => (alpha) => serialMedian(own, { alpha })));
            return { ci95, truth: worse };
          }),
        ),
      ),
    ),
  ]),
);

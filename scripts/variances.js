#!/usr/bin/env node
// Writes lib/metrics/recorded-variances.ts from the comparisons recorded on real GPUs (bench/results); --check fails if
// it is not current. Needs xz.
import { format } from 'prettier';
import { sampleCorrelation, sampleVariance } from 'simple-statistics';
import { jsonRecords } from '../bench/records.js';
import { generated } from './generated.js';

const RESULTS = 'bench/results';
/** Two rounds say little about their own spread. */
const FEWEST_ROUNDS = 3;
/** Programs of users and their costs are not metrics of this tool. */
const NOT_SHIPPED = new Set(['workload', 'cost']);

/** Recorded comparisons of one kind of GPU: the H100s' check the rule that uses these spreads. */
const comparisons = [...jsonRecords()]
  .filter(({ name, kind }) => kind === 'comparison' && name.startsWith('h200/'))
  .map(({ content }) => content);

/** The values of one metric in the rounds of one arm; null where a round has none. */
const valuesOf = (rounds, id) =>
  rounds.map((round) => round.metrics.find((one) => one.id === id && one.status === 'ok')?.value ?? null);
const isMeasured = (value) => value !== null;

/**
 * The sample standard deviation, divided by the ratio that its median has to the true one (Wilson and Hilferty's
 * approximation of the median of chi-square), so that a median over documents is unbiased.
 */
function spread(values) {
  const freedom = values.length - 1;
  return Math.sqrt(sampleVariance(values) / (1 - 2 / (9 * freedom)) ** 3);
}

/** The median of numbers that count by their degrees of freedom. */
function weightedMedian(weighted) {
  const sorted = weighted.toSorted((a, b) => a.value - b.value);
  const half = sorted.reduce((sum, { weight }) => sum + weight, 0) / 2;
  let upTo = 0;
  for (const { value, weight } of sorted) if ((upTo += weight) >= half) return value;
  return 0;
}

const ofRounds = (statistic, ...arms) => ({ value: statistic(...arms), weight: arms[0].length - 1 });

/** Rounds of both arms in which both have a value. */
function paired(one, other) {
  const both = one.map((value, i) => [value, other[i] ?? null]).filter((pair) => pair.every(isMeasured));
  return [both.map(([value]) => value), both.map(([, value]) => value)];
}

const varies = (values) => values.some((value) => value !== values[0]);

/** How many GPUs took part in the baseline's results, where several do: the numbers of two and of four are not alike. */
const gpusOf = ({ systems: [baseline] }, id) =>
  baseline.flatMap(({ metrics }) => metrics).find((one) => one.id === id && one.status === 'ok')?.details.gpus?.length;

/** The spread on the number of GPUs where values vary most: the rule must not expect less on any. */
function recorded(id) {
  const counts = [...new Set(comparisons.map((comparison) => gpusOf(comparison, id)))];
  const of = (count) => comparisons.filter((comparison) => gpusOf(comparison, id) === count);
  const rows = counts.flatMap((count) => recordedIn(of(count), id) ?? []);
  return rows.toSorted((a, b) => Math.max(b.sd, b.sdLayer) - Math.max(a.sd, a.sdLayer))[0] ?? null;
}

function recordedIn(comparisons, id) {
  const documents = comparisons
    // A value of several processes varies less than that of one.
    .filter(({ systems }) => systems.flat().every(({ plan }) => plan.processes?.[id] === undefined))
    .map(({ systems }) => systems.map((rounds) => valuesOf(rounds, id)))
    .filter(([baseline]) => baseline.filter(isMeasured).length >= FEWEST_ROUNDS);
  // Values that never varied, as of a metric that answers yes or no, do not show a spread of 0.
  if (documents.length === 0 || !varies(documents.flat(2).filter(isMeasured))) return null;
  const logs = documents.flat(2).every((value) => value === null || value > 0);
  const scaled = documents.map((arms) =>
    arms.map((values) => values.map((value) => (value === null || !logs ? value : Math.log(value)))),
  );
  const spreads = (arms) =>
    arms
      .map((values) => values.filter(isMeasured))
      .filter((values) => values.length >= FEWEST_ROUNDS)
      .map((values) => ofRounds(spread, values));
  const own = spreads(scaled.map(([baseline]) => baseline));
  const layers = spreads(scaled.flatMap(([, ...others]) => others));
  const pairs = scaled
    .flatMap(([baseline, ...others]) => others.map((other) => paired(baseline, other)))
    .filter((arms) => arms[0].length >= FEWEST_ROUNDS && arms.every(varies));
  const correlations = pairs.map((arms) => ofRounds(sampleCorrelation, ...arms));
  return {
    scale: logs ? 'log' : 'unit',
    sd: weightedMedian(own),
    sdLayer: weightedMedian(layers.length > 0 ? layers : own),
    correlation: weightedMedian(correlations),
    documents: documents.length,
    rounds: own.reduce((sum, { weight }) => sum + weight + 1, 0),
  };
}

const ids = new Set(
  comparisons.flatMap(({ systems }) =>
    systems
      .flat()
      .flatMap(({ metrics }) => metrics.filter(({ category }) => !NOT_SHIPPED.has(category)).map(({ id }) => id)),
  ),
);
const rounded = (value) => (typeof value === 'number' ? Number(value.toPrecision(3)) : value);
const rows = [...ids].sort().flatMap((id) => {
  const row = recorded(id);
  if (row === null) return [];
  return [[id, Object.fromEntries(Object.entries(row).map(([name, value]) => [name, rounded(value)]))]];
});

const text = `/**
 * How much a metric's value differs between rounds, each of a fresh process, in comparisons recorded on real GPUs.
 * Generated from bench/results by \`npm run variances\`.
 */
interface RecordedVariance {
  /** \`log\`: of the logarithms of values. \`unit\`: of values in the metric's unit, because some are zero or negative. */
  scale: 'log' | 'unit';
  /** Standard deviation between rounds of the baseline, and of the other systems: medians over documents. */
  sd: number;
  sdLayer: number;
  /** Correlation of a system with the baseline over rounds: median over pairs. 0 if there is none. */
  correlation: number;
  documents: number;
  /** Rounds of the baseline in these documents. */
  rounds: number;
}

export const recordedVariances: Readonly<Record<string, RecordedVariance>> = ${JSON.stringify(Object.fromEntries(rows))};
`;

generated(
  'lib/metrics/recorded-variances.ts',
  await format(text, { parser: 'typescript', printWidth: 120, singleQuote: true }),
  {
    source: RESULTS,
    command: 'npm run variances',
  },
);

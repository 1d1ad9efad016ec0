/**
 * The contents of a report, derived once from a document: systems as columns, metrics as rows. Formats only decide how
 * it looks. Numbers that were not measured are null.
 */
import { mean as average, medianSorted, sampleStandardDeviation } from 'simple-statistics';
import type {
  CallEffect,
  ComparisonDocument,
  Effect,
  MetricResult,
  ResultWithoutNumber,
  RunDocument,
  Stats,
} from './document.js';
import { findingText } from './text/health-text.js';
import { isComparison, isSimulated, type ResultDocument, roundsOf } from './kinds.js';
import { byMetricId } from './metric-order.js';
import { differentMessages, messageKey } from './text/same-message.js';
import { type Violation, violationsOf } from './violations.js';
import { levelInterval } from '../stats/mean.js';
import { FEWEST_FOR_INTERVAL, median } from '../stats/median.js';
import { percentileFloors } from '../stats/summary.js';

export interface View {
  document: ResultDocument;
  simulated: boolean;
  completed: boolean;
  /** Systems in the document's order; in a comparison the first is the baseline. */
  systems: SystemView[];
  categories: { name: string; rows: Row[] }[];
  effects: Effect[];
  /** Null for documents from before they were computed. */
  callEffects: CallEffect[] | null;
  computeLimits: ComparisonDocument['computeLimits'];
  violations: Violation[];
  notMeasured: Missing[];
  /**
   * Warnings of the document and all its rounds, without repetitions; the document's own summarise the health of single
   * rounds.
   */
  warnings: string[];
}

export interface SystemView {
  name: string;
  /** The system that the others are compared with; false for all if the systems were measured separately. */
  isBaseline: boolean;
  /** Whether it is compared with the baseline. */
  isCompared: boolean;
  /** One document per round; empty if the run was interrupted before its first. */
  rounds: RunDocument[];
}

/** A metric. */
export interface Row {
  id: string;
  name: string;
  unit: string;
  direction: MetricResult['direction'];
  /** One per system, in the order of `View.systems`. */
  cells: Cell[];
}

export interface Cell {
  system: string;
  /** Every round's result, whatever its status. */
  results: MetricResult[];
  /** Values of the rounds that have one. */
  values: number[];
  /** The number of the system's rounds that were to measure it. */
  of: number;
  /** Median of `values`. */
  value: number | null;
  /**
   * With one round, the round's own interval. With several, an interval over their values, because the process is the
   * unit of replication: the t interval up to five rounds, which always contains the median and is of logarithms if
   * values are positive; from six on the median's interval by order statistics.
   */
  ci95: [number, number] | null;
  ciScope: MetricResult['ciScope'];
  tail: Tail | null;
  spread: Spread | null;
  /** Against the baseline. */
  effect: Effect | null;
  /** The round number of each of `values`, from 1; rounds that failed or lack the metric are counted too. */
  rounds: number[];
}

export type Percentile = 'p50' | 'p95' | 'p99' | 'p999';

/** Tails of the samples within a process: medians over rounds, null below the floor of samples. */
export interface Tail extends Record<Percentile, number | null> {
  /** The fewest samples of any round. */
  count: number;
}

export interface Spread {
  /**
   * Standard deviation of the rounds' values, absolute and relative to their mean; null below two rounds. The relative
   * one is null if a value is 0 or negative: their mean may be near 0.
   */
  between: number | null;
  betweenCv: number | null;
  /** Spread of the samples within a process: median over rounds. */
  within: number | null;
  withinCv: number | null;
  /** Outliers by Tukey's fences, over all rounds. */
  outliers: Stats['outliers'];
  samples: number;
}

export interface Missing {
  /** Ids of all metrics with the same reason, apart from PIDs. */
  metrics: string[];
  system: string;
  status: ResultWithoutNumber['status'];
  reason: string;
  /** How many of the rounds that were to measure it have this reason. */
  rounds: number;
  of: number;
}

/** Rows of all categories. */
export const rowsOf = ({ categories }: View): Row[] => categories.flatMap(({ rows }) => rows);

export function viewOf(document: ResultDocument): View {
  const rounds = roundsOf(document);
  const systems = systemsOf(document);
  const comparison = isComparison(document) ? document : null;
  const effects = comparison?.effects ?? [];
  const rows = definitions(rounds).map((result) => rowOf(result, systems, effects));
  const categories = [...new Set(rows.map(({ category }) => category))];
  return {
    document,
    simulated: isSimulated(document),
    completed: document.completed,
    systems,
    categories: categories.map((name) => ({ name, rows: rows.filter(({ category }) => category === name) })),
    effects,
    callEffects: comparison?.callEffects ?? null,
    computeLimits: comparison?.computeLimits ?? [],
    violations: violationsOf(document),
    notMeasured: missing(rounds, effects),
    warnings: warningsOf(document),
  };
}

function warningsOf(document: ResultDocument): string[] {
  if (!isComparison(document)) return differentMessages(document.warnings);
  const ofRounds = document.systems.flat().flatMap(({ health, warnings }) => {
    const names = health.after.map(({ name }) => `${findingText(name)}: `);
    return warnings.filter((warning) => !names.some((name) => warning.startsWith(name)));
  });
  return differentMessages([...document.warnings, ...ofRounds]);
}

function systemsOf(document: ResultDocument): SystemView[] {
  if (!isComparison(document))
    return [{ name: document.system.name, isBaseline: false, isCompared: false, rounds: [document] }];
  const interleaved = document.plan.order.length > 0;
  const hasOthers = document.plan.systems.length > 1;
  return document.plan.systems.map((name, index) => ({
    name,
    isBaseline: interleaved && hasOthers && index === 0,
    isCompared: interleaved && index > 0,
    rounds: document.systems[index] ?? [],
  }));
}

/** Heading of comparisons with the baseline: `against native`. */
export const againstBaseline = (systems: readonly SystemView[]): string =>
  `against ${systems.find(({ isBaseline }) => isBaseline)?.name ?? 'the baseline'}`;

/** One result of every metric, by id, from any round that has it. */
function definitions(rounds: readonly RunDocument[]): MetricResult[] {
  const known = new Map(rounds.flatMap(({ metrics }) => metrics.map((result) => [result.id, result])));
  return [...known.values()].sort((a, b) => byMetricId(a.id, b.id));
}

function rowOf(
  { id, name, category, unit, direction }: MetricResult,
  systems: readonly SystemView[],
  effects: readonly Effect[],
): Row & { category: string } {
  const cells = systems.map((system) => {
    const effect = effects.find((candidate) => candidate.metric === id && candidate.system === system.name) ?? null;
    const results = system.rounds.flatMap(({ metrics }) => metrics.filter((result) => result.id === id));
    const shown = isSilent(results, system, id, effects) ? [] : results;
    return cellOf(system, { results, shown, of: roundsAbout(system.rounds, id), effect });
  });
  return { id, name, category, unit, direction, cells };
}

/**
 * Whether a system's numbers of a metric are not shown: its effect is invalid, or it is the baseline and one of its own
 * rounds makes an effect invalid. The rounds that are left would look like a result.
 */
function isSilent(
  results: readonly MetricResult[],
  { name, isBaseline }: SystemView,
  id: string,
  effects: readonly Effect[],
): boolean {
  const invalid = effects.filter(({ metric, verdict }) => metric === id && verdict === 'invalid');
  if (isBaseline) return invalid.length > 0 && results.some(({ status }) => status === 'invalid');
  return invalid.some(({ system }) => system === name);
}

/** The rounds that were to measure it: a merged document also has rounds of other metrics. */
const roundsAbout = (rounds: readonly RunDocument[], id: string): number =>
  rounds.filter(({ plan, metrics }) => plan.metrics.includes(id) || metrics.some((result) => result.id === id)).length;

function cellOf(
  { name: system, rounds }: SystemView,
  { results, shown, of, effect }: Pick<Cell, 'results' | 'of' | 'effect'> & { shown: readonly MetricResult[] },
): Cell {
  const measured = shown.filter(({ value }) => value !== null);
  const values = measured.map(({ value }) => value as number);
  const [only] = measured;
  return {
    system,
    results,
    values,
    of,
    value: medianOf(values),
    ci95: only && measured.length === 1 ? only.ci95 : intervalOf(values),
    ciScope: only && measured.length === 1 ? only.ciScope : 'between-processes',
    tail: tailOf(measured),
    spread: spreadOf(measured, values),
    effect,
    rounds: measured.map((result) => rounds.findIndex(({ metrics }) => metrics.includes(result)) + 1),
  };
}

function intervalOf(values: readonly number[]): Cell['ci95'] {
  if (values.length === 0) return null;
  return values.length < FEWEST_FOR_INTERVAL ? levelInterval(values) : median(values).ci95;
}

export function medianOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : medianSorted([...values].sort((a, b) => a - b));
}

const statsOf = (results: readonly MetricResult[]): Stats[] => results.flatMap(({ stats }) => stats ?? []);

const medianOfPresent = (values: readonly (number | null)[]): number | null =>
  medianOf(values.filter((value) => value !== null));

function tailOf(results: readonly MetricResult[]): Tail | null {
  const stats = statsOf(results);
  if (stats.length === 0) return null;
  const count = Math.min(...stats.map((each) => each.count));
  const of = (percentile: Percentile) =>
    count < percentileFloors[percentile] ? null : medianOfPresent(stats.map((each) => each[percentile]));
  return { count, p50: of('p50'), p95: of('p95'), p99: of('p99'), p999: of('p999') };
}

function spreadOf(results: readonly MetricResult[], values: readonly number[]): Spread | null {
  const stats = statsOf(results);
  if (values.length === 0) return null;
  const { between, betweenCv } = betweenRounds(values);
  return {
    between,
    betweenCv,
    within: medianOfPresent(stats.map(({ stddev }) => stddev)),
    // Older documents have one of signed samples too.
    withinCv: medianOfPresent(stats.map(({ cv, min }) => (min > 0 ? cv : null))),
    outliers: {
      mild: stats.reduce((sum, { outliers }) => sum + outliers.mild, 0),
      severe: stats.reduce((sum, { outliers }) => sum + outliers.severe, 0),
    },
    samples: stats.reduce((sum, { count }) => sum + count, 0),
  };
}

function betweenRounds(values: readonly number[]): Pick<Spread, 'between' | 'betweenCv'> {
  if (values.length < 2) return { between: null, betweenCv: null };
  const between = sampleStandardDeviation([...values]);
  return { between, betweenCv: values.every((value) => value > 0) ? between / average([...values]) : null };
}

/**
 * One entry per reason, however many rounds and metrics share it. Leaves out metrics that are a difference to native:
 * the table shows them by their effect.
 */
function missing(rounds: readonly RunDocument[], effects: readonly Effect[]): Missing[] {
  const found = new Map<string, Missing[]>();
  const own = (name: string, id: string) =>
    roundsAbout(
      rounds.filter(({ system }) => system.name === name),
      id,
    );
  for (const { system, metrics } of rounds)
    for (const { id: metric, status, reason = '' } of metrics) {
      if (status === 'ok') continue;
      if (status === 'unsupported' && effects.some((effect) => effect.metric === metric)) continue;
      const key = JSON.stringify([metric, system.name, status]);
      const entries = found.get(key) ?? [];
      found.set(key, entries);
      let entry = entries.find((one) => sameReason(one.reason, reason));
      if (!entry) {
        entry = { metrics: [metric], system: system.name, status, reason, rounds: 0, of: own(system.name, metric) };
        entries.push(entry);
      }
      if (saysMore(reason, entry.reason)) entry.reason = reason;
      entry.rounds += 1;
    }
  return byReason([...found.values()].flat());
}

const sameReason = (a: string, b: string): boolean =>
  messageKey(a) === messageKey(b) || saysMore(a, b) || saysMore(b, a);

/** A round that was stopped repeats the previous round's reason and adds a sentence. */
const saysMore = (reason: string, than: string): boolean => reason.startsWith(`${than.replace(/\.$/, '')}. `);

/** Merges only entries with the same number of rounds, so that the number is right for every metric. */
function byReason(found: readonly Missing[]): Missing[] {
  const grouped = new Map<string, Missing>();
  for (const one of found) {
    const key = JSON.stringify([one.system, one.status, messageKey(one.reason), one.rounds]);
    const group = grouped.get(key);
    if (group) group.metrics.push(...one.metrics);
    else grouped.set(key, one);
  }
  return [...grouped.values()];
}

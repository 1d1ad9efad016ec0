/** Thresholds from a YAML file. docs/gates.md describes the file and every default. */
import { isMap, type RawMap, type RawValue, Values } from '../config/values.js';
import { readYaml, readYamlText, type Source } from '../config/yaml.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import type { MetricDefinition } from '../metrics/metric.js';
import { selectMetrics } from '../run/select.js';
import { DEFAULT_MAX_REGRESSION_PERCENT } from './defaults.js';
import { type MetricThresholds, OFF, type Thresholds, thresholdsOfEach } from './thresholds.js';

const MOST_PERCENT = 100_000;
const topKeys = ['maxRegression', 'inconclusive', 'missing', 'systems', 'metrics'] as const;
const metricKeys = ['limit', 'maxRegression', 'maxDifference', 'inconclusive'] as const;

export async function readThresholds(
  file: string,
  option: string,
  all: readonly MetricDefinition[],
): Promise<Thresholds> {
  return parseThresholds(await readYamlText(file, option), file, all);
}

export function parseThresholds(text: string, file: string, all: readonly MetricDefinition[]): Thresholds {
  const source = readYaml(text, file);
  const top = source.at([], () => {
    const value = isNothing(source.value) ? emptyMap() : source.value;
    if (!isMap(value)) throw new UsageError(`Expected a map with keys ${topKeys.join(', ')}.`);
    return new Values(value, 'the thresholds', topKeys);
  });
  return source.at([], () => {
    const percent = percentOf(top, 'maxRegression') ?? DEFAULT_MAX_REGRESSION_PERCENT;
    const inconclusive = top.choice('inconclusive', ['pass', 'fail']) ?? 'pass';
    const metrics = thresholdsOfEach(all, percent, inconclusive);
    const entries = top.raw('metrics') === '' ? undefined : top.map('metrics');
    for (const [selector, raw] of Object.entries(entries ?? {}))
      source.at(['metrics', selector], () => applyEntry(metrics, all, selector, raw));
    return { missing: top.choice('missing', ['pass', 'fail']) ?? 'fail', systems: systemsOf(top, source), metrics };
  });
}

const emptyMap = (): RawMap => Object.create(null) as RawMap;

/** An empty file, one with only comments, or a key without a value. */
const isNothing = (value: RawValue | null): value is null | '' => value === null || value === '';

/** Later entries override earlier ones, key by key. */
function applyEntry(
  thresholds: Map<string, MetricThresholds>,
  all: readonly MetricDefinition[],
  selector: string,
  raw: RawValue,
): void {
  const selected = selectMetrics([selector], all);
  const entry = readEntry(selector, raw, selected);
  for (const metric of selected) {
    const { id } = metric;
    const earlier = thresholds.get(id) as MetricThresholds;
    const regression = 'absolute' in metric.delta ? entry.difference : entry.relative;
    thresholds.set(id, {
      limit: entry.limit ?? earlier.limit,
      regression: regression === undefined || metric.direction === 'none' ? earlier.regression : regression,
      inconclusive: entry.inconclusive ?? earlier.inconclusive,
      named: earlier.named || selector.toLowerCase() === id.toLowerCase(),
    });
  }
}

function readEntry(selector: string, raw: RawValue, selected: readonly MetricDefinition[]) {
  // `OH-001:` without a value requires the metric to be measured.
  const map = isNothing(raw) ? emptyMap() : raw;
  if (!isMap(map)) throw new UsageError(`Expected ${quoted(selector)} to be a map with keys ${metricKeys.join(', ')}.`);
  const values = new Values(map, selector, metricKeys);
  checkLimit(values, selected);
  checkRegression(values, selected);
  const percent = percentOf(values, 'maxRegression');
  const difference = numberOrOff(values, 'maxDifference', "a number of at least 0 in the metric's unit");
  return {
    limit: values.number('limit', "a number in the metric's unit"),
    relative: percent === undefined ? undefined : percent === OFF ? null : { relative: percent / 100 },
    difference: difference === undefined ? undefined : difference === OFF ? null : { absolute: difference },
    inconclusive: values.choice('inconclusive', ['pass', 'fail']),
  };
}

function checkLimit(values: Values, selected: readonly MetricDefinition[]): void {
  if (!values.has('limit')) return;
  const aimless = selected.find(({ direction }) => direction === 'none');
  if (aimless)
    throw values.error(
      'limit',
      `Expected limit to be of metrics with a direction but received it for ${aimless.id}, for which neither more nor less is worse: remove it.`,
    );
  checkOneUnit(values, 'limit', selected);
}

/**
 * A metric's definition decides which of the two keys it takes; the other one is refused, because it would be ignored.
 */
function checkRegression(values: Values, selected: readonly MetricDefinition[]): void {
  const absolute = selected.filter(({ delta }) => 'absolute' in delta);
  if (values.has('maxRegression') && absolute.length === selected.length)
    throw values.error(
      'maxRegression',
      `Expected maxDifference, in ${unitsOf(absolute)}, but received maxRegression: values of ${ids(absolute)} may be zero or negative, so there is no percentage.`,
    );
  if (!values.has('maxDifference')) return;
  if (absolute.length === 0)
    throw values.error(
      'maxDifference',
      `Expected maxRegression, in %, but received maxDifference: values of ${ids(selected)} are always above zero.`,
    );
  checkOneUnit(values, 'maxDifference', absolute);
}

function checkOneUnit(values: Values, key: string, selected: readonly MetricDefinition[]): void {
  if (new Set(selected.map(({ unit }) => unit)).size <= 1) return;
  throw values.error(
    key,
    `Expected ${key} to be of metrics with one unit but received it for ${ids(selected)}, which have ${unitsOf(selected)}: give each its own.`,
  );
}

const ids = (metrics: readonly MetricDefinition[]): string => metrics.map(({ id }) => id).join(', ');
const unitsOf = (metrics: readonly MetricDefinition[]): string =>
  [...new Set(metrics.map(({ unit }) => unit))].join(', ');

const percentOf = (values: Values, key: string): number | typeof OFF | undefined =>
  numberOrOff(values, key, `a percentage from 0 to ${MOST_PERCENT}`, MOST_PERCENT);

function numberOrOff(values: Values, key: string, what: string, most?: number): number | typeof OFF | undefined {
  if (values.raw(key) === OFF) return OFF;
  return values.number(key, `${what}, or ${OFF}`, { least: 0, ...(most !== undefined && { most }) });
}

function systemsOf(top: Values, source: Source): Thresholds['systems'] {
  const names = top.strings('systems');
  return names?.map((name, index) => ({ name, place: source.place(['systems', index]) })) ?? null;
}

/** Thresholds from a YAML file. docs/gates.md describes the file and every default. */
import { choice, type Field, key, number, texts } from '../config/schema.js';
import { Place } from '../config/setting-place.js';
import { isMap, type RawMap, type RawValue } from '../config/raw.js';
import { keysOf, laterEach, orText, read, settings } from '../config/read.js';
import { readYaml, readYamlText } from '../config/yaml.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import { selectMetrics } from '../run/plan/select.js';
import { DEFAULT_MAX_REGRESSION_PERCENT } from './defaults.js';
import { type MetricThresholds, OFF, type Thresholds, thresholdsOfEach } from './thresholds.js';

const MOST_PERCENT = 100_000;
const orOff = (what: string, most?: number): Field<number | typeof OFF, number | typeof OFF> =>
  orText(OFF, number(`${what}, or ${OFF}`, { least: 0, ...(most !== undefined && { most }) }));
const percentOrOff = () => orOff(`a percentage from 0 to ${MOST_PERCENT}`, MOST_PERCENT);
const passOrFail = () => choice(['pass', 'fail']);

export const metricThresholds = settings({
  limit: key(
    number("a number in the metric's unit"),
    "The worst value allowed, in the metric's unit: a maximum, or a minimum if more is better. Default: none.",
  ),
  maxRegression: key(percentOrOff(), 'For this metric; `off` does not check its change. Default: that of all.'),
  maxDifference: key(
    orOff("a number of at least 0 in the metric's unit"),
    "In place of `maxRegression` for metrics whose values may be zero or negative (OH-005 … OH-010), in their unit; `off` does not check it. Default: 5 × the metric's δ.",
  ),
  inconclusive: key(passOrFail(), 'For this metric. Default: that of all.'),
});

export const thresholdSettings = settings({
  maxRegression: key(
    percentOrOff(),
    'The largest change for the worse, in %, of metrics whose values are above zero; `off` checks limits only.',
    DEFAULT_MAX_REGRESSION_PERCENT,
  ),
  inconclusive: key(passOrFail(), 'What an inconclusive case counts as:', 'pass'),
  missing: key(passOrFail(), 'What a metric counts as that is named by its id and was not measured:', 'fail'),
  systems: key(texts(), 'The systems to check. Default: see below.'),
  metrics: key(
    laterEach(metricThresholds),
    'A map from ids, globs over ids or categories to the keys below; later entries override earlier ones, key by key.',
  ),
});

export async function readThresholds(
  file: string,
  option: string,
  all: readonly MetricDefinition[],
): Promise<Thresholds> {
  return parseThresholds(await readYamlText(file, option), file, all);
}

export function parseThresholds(text: string, file: string, all: readonly MetricDefinition[]): Thresholds {
  const source = readYaml(text, file);
  return source.at([], () => {
    const value = isNothing(source.value) ? {} : source.value;
    if (!isMap(value)) throw new UsageError(`Expected a map with keys ${keysOf(thresholdSettings).join(', ')}.`);
    const { metrics: entries, ...given } = read(thresholdSettings, new Place(withoutNothing(value), 'the thresholds'));
    const metrics = thresholdsOfEach(all, given.maxRegression, given.inconclusive);
    for (const [selector, raw] of Object.entries(entries ?? {}))
      source.at(['metrics', selector], () => applyEntry(metrics, all, selector, raw));
    const systems = given.systems?.map((name, index) => ({ name, place: source.place(['systems', index]) })) ?? null;
    return { missing: given.missing, systems, metrics };
  });
}

/** `metrics:` may have only comments below it. */
const withoutNothing = (map: RawMap): RawMap =>
  Object.fromEntries(Object.entries(map).filter(([key, value]) => key !== 'metrics' || !isNothing(value)));

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
  const map = isNothing(raw) ? {} : raw;
  if (!isMap(map))
    throw new UsageError(`Expected ${quoted(selector)} to be a map with keys ${keysOf(metricThresholds).join(', ')}.`);
  const place = new Place(map, selector);
  const { limit, maxRegression, maxDifference, inconclusive } = read(metricThresholds, place);
  checkLimit(place, selected);
  checkRegression(place, selected);
  return {
    limit,
    relative:
      maxRegression === undefined ? undefined : maxRegression === OFF ? null : { relative: maxRegression / 100 },
    difference: maxDifference === undefined ? undefined : maxDifference === OFF ? null : { absolute: maxDifference },
    inconclusive,
  };
}

function checkLimit(place: Place, selected: readonly MetricDefinition[]): void {
  if (!place.has('limit')) return;
  const aimless = selected.find(({ direction }) => direction === 'none');
  if (aimless)
    throw place.error(
      'limit',
      `Expected limit to be of metrics with a direction but received it for ${aimless.id}, for which neither more nor less is worse: remove it.`,
    );
  checkOneUnit(place, 'limit', selected);
}

/**
 * A metric's definition decides which of the two keys it takes; the other one is refused, because it would be ignored.
 */
function checkRegression(place: Place, selected: readonly MetricDefinition[]): void {
  const absolute = selected.filter(({ delta }) => 'absolute' in delta);
  if (place.has('maxRegression') && absolute.length === selected.length)
    throw place.error(
      'maxRegression',
      `Expected maxDifference, in ${unitsOf(absolute)}, but received maxRegression: values of ${ids(absolute)} may be zero or negative, so there is no percentage.`,
    );
  if (!place.has('maxDifference')) return;
  if (absolute.length === 0)
    throw place.error(
      'maxDifference',
      `Expected maxRegression, in %, but received maxDifference: values of ${ids(selected)} are always above zero.`,
    );
  checkOneUnit(place, 'maxDifference', absolute);
}

function checkOneUnit(place: Place, key: string, selected: readonly MetricDefinition[]): void {
  if (new Set(selected.map(({ unit }) => unit)).size <= 1) return;
  throw place.error(
    key,
    `Expected ${key} to be of metrics with one unit but received it for ${ids(selected)}, which have ${unitsOf(selected)}: give each its own.`,
  );
}

const ids = (metrics: readonly MetricDefinition[]): string => metrics.map(({ id }) => id).join(', ');
const unitsOf = (metrics: readonly MetricDefinition[]): string =>
  [...new Set(metrics.map(({ unit }) => unit))].join(', ');

/** The metrics of a workload that are extracted from what a run prints or writes. */
import { isMap, Values } from '../config/values.js';
import { isCostKey } from '../costs/cost-metrics.js';
import { isEnergyKey } from '../costs/energy-metrics.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { countedBy, countingOf, perChoices, type PerChoice } from '../metrics/per.js';
import type { Direction } from '../metrics/metric.js';
import type { Delta } from '../stats/effect.js';
import { isPointer } from './json-pointer.js';
import {
  builtInKeys,
  choices,
  loadKeys,
  type ExtractedMetric,
  type OutputSource,
  type Extraction,
} from './workload-type.js';

const keys = ['from', 'file', 'regex', 'json', 'jsonl', 'take', 'unit', 'direction', 'delta', 'per'] as const;
const metricKey = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;
/** Long patterns are the ones that take for ever. */
const LONGEST_PATTERN = 500;
const LONGEST_UNIT = 20;
const DEFAULT_DELTA: Delta = { relative: 0.02 };

export function extractedMetrics(values: Values): ExtractedMetric[] {
  const map = values.map('metrics') ?? {};
  return Object.entries(map).map(([key, raw]) => {
    if (!metricKey.test(key))
      throw values.expected('metrics', 'a map of names of letters, digits and . _ -', `'${key}' is none`);
    if ((builtInKeys as readonly string[]).includes(key))
      throw values.expected('metrics', 'a map of new names', `${key} is measured of every program`);
    if (isCostKey(key) || isEnergyKey(key))
      throw values.expected('metrics', 'a map of new names', `${key} is computed of every program that has its inputs`);
    if (values.has('load') && (loadKeys as readonly string[]).includes(key))
      throw values.expected('metrics', 'a map of new names', `${key} is measured of every load`);
    if (!isMap(raw)) throw values.expected('metrics', 'a map of names to maps', `${key} has no map`);
    const own = new Values(raw, `${key} of ${values.named('metrics')}`, keys, [...values.path, 'metrics', key]);
    return oneMetric(key, own);
  });
}

function oneMetric(key: string, values: Values): ExtractedMetric {
  const pick = pickOf(values);
  const [unit, direction] = [unitOf(values), directionOf(values)];
  return {
    key,
    from: sourceOf(values),
    pick,
    take: values.choice('take', choices) ?? 'last',
    unit,
    direction,
    delta: deltaOf(values),
    ...perOf(values, unit, direction),
  };
}

const directionOf = (values: Values): Direction =>
  values.choice('direction', ['lower', 'higher', 'none']) ?? requiredDirection(values);

function perOf(values: Values, unit: string, direction: Direction): { per?: PerChoice } {
  const per = values.choice('per', perChoices);
  if (per === undefined) return {};
  if (per === 'none' || countedBy({ unit, direction, per })) return { per };
  const why =
    countingOf(unit) === null
      ? `and the unit to end in /s, to be ns, us, ms or s, or to be count but received ${quoted(unit)}`
      : `and the direction of a rate to be higher, and of a time lower, but received ${direction}`;
  throw values.error('per', `Expected ${values.named('per')} to be what the metric counts ${why}.`);
}

function requiredDirection(values: Values): never {
  throw values.error(
    'direction',
    `Expected ${values.named('direction')} to be lower, higher or none, whichever is better, but received nothing.`,
  );
}

function sourceOf(values: Values): OutputSource {
  const file = values.text('file');
  const from = values.choice('from', ['stdout', 'stderr'] as const);
  if (file === undefined) return from ?? 'stdout';
  if (from !== undefined)
    throw values.error('file', `Expected from or file of ${values.owner} but received both: leave one out.`);
  return { file };
}

function pickOf(values: Values): Extraction {
  const given = (['regex', 'json', 'jsonl'] as const).filter((key) => values.has(key));
  const [by, ...more] = given;
  if (by === undefined || more.length > 0)
    throw values.error(
      more[0] ?? 'regex',
      `Expected ${values.owner} to have one of regex, json and jsonl but received ${given.join(' and ') || 'none'}.`,
    );
  if (by === 'regex') return { by, pattern: patternOf(values) };
  const pointer = values.raw(by);
  if (typeof pointer !== 'string' || !isPointer(pointer))
    throw values.expected(by, 'a JSON pointer such as /results/0/tokens_per_second');
  return { by, pointer };
}

function patternOf(values: Values): RegExp {
  const text = values.required('regex');
  if (text.length > LONGEST_PATTERN)
    throw values.expected('regex', `a regular expression of at most ${LONGEST_PATTERN} characters`);
  return values.within('regex', () => {
    const what = values.named('regex');
    let pattern: RegExp;
    try {
      pattern = new RegExp(text, 'gm');
    } catch (error) {
      throw new UsageError(`Expected ${what} to be a regular expression: ${(error as Error).message}.`);
    }
    // Matches the empty text beside the pattern, and tells how many groups it has.
    const groups = (new RegExp(`${text}|`).exec('')?.length ?? 1) - 1;
    if (groups >= 1) return pattern;
    throw new UsageError(
      `Expected ${what} to have a group around the number but received none, e.g. 'took ([0-9.]+) s'.`,
    );
  });
}

function unitOf(values: Values): string {
  const unit = values.required('unit');
  if (unit.length <= LONGEST_UNIT && !/[\p{Cc}]/u.test(unit)) return unit;
  throw values.expected('unit', `a text of at most ${LONGEST_UNIT} characters`);
}

/** `3%` is relative; a number is in the unit of the metric, and for values that may be zero or negative. */
function deltaOf(values: Values): Delta {
  const text = values.text('delta');
  if (text === undefined) return DEFAULT_DELTA;
  const [, digits = '', percent] = /^(\d+(?:\.\d+)?) ?(%)?$/.exec(text) ?? [];
  const number = Number(digits);
  if (digits !== '' && number > 0 && number <= 1e9 && (!percent || number <= 100))
    return percent ? { relative: number / 100 } : { absolute: number };
  throw values.expected('delta', "a percentage such as 2%, or a number above 0 in the metric's unit");
}

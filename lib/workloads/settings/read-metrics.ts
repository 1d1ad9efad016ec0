/** The metrics of a workload that are extracted from what a run prints or writes. */
import type { Place } from '../../config/setting-place.js';
import { isCostKey } from '../../costs/cost-metrics.js';
import { isEnergyKey } from '../../costs/energy-metrics.js';
import { quoted } from '../../errors/usage-error.js';
import { countedBy, countingOf, type PerChoice } from '../../metrics/core/per.js';
import type { GivenMetric, GivenProgram } from './workload-schema.js';
import { loadKeys } from '../metrics/load-metrics.js';
import { programKeys } from '../metrics/program-metrics.js';
import type { ExtractedMetric, Extraction, OutputSource } from '../workload-type.js';

const metricKey = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;

export function extractedMetrics({ metrics, load }: GivenProgram, place: Place): ExtractedMetric[] {
  return [...(metrics ?? [])].map(([key, given]) => {
    if (!metricKey.test(key))
      throw place.expected('metrics', 'a map of names of letters, digits and . _ -', `'${key}' is none`);
    if ((programKeys as readonly string[]).includes(key))
      throw place.expected('metrics', 'a map of new names', `${key} is measured of every program`);
    if (isCostKey(key) || isEnergyKey(key))
      throw place.expected('metrics', 'a map of new names', `${key} is computed of every program that has its inputs`);
    if (load && (loadKeys as readonly string[]).includes(key))
      throw place.expected('metrics', 'a map of new names', `${key} is measured of every load`);
    return oneMetric(key, given, place.inside('metrics').inside(key));
  });
}

function oneMetric(key: string, given: GivenMetric, place: Place): ExtractedMetric {
  const { take, unit, direction, delta } = given;
  return {
    key,
    from: sourceOf(given, place),
    pick: pickOf(given, place),
    take,
    unit,
    direction,
    delta,
    ...perOf(given, place),
  };
}

function perOf({ per, unit, direction }: GivenMetric, place: Place): { per?: PerChoice } {
  if (per === undefined) return {};
  if (per === 'none' || countedBy({ unit, direction, per })) return { per };
  const why =
    countingOf(unit) === null
      ? `and the unit to end in /s, to be ns, us, ms or s, or to be count but received ${quoted(unit)}`
      : `and the direction of a rate to be higher, and of a time lower, but received ${direction}`;
  throw place.error('per', `Expected ${place.named('per')} to be what the metric counts ${why}.`);
}

function sourceOf({ file, from }: GivenMetric, place: Place): OutputSource {
  if (file === undefined) return from ?? 'stdout';
  if (from !== undefined)
    throw place.error('file', `Expected from or file of ${place.owner} but received both: leave one out.`);
  return { file };
}

function pickOf({ regex, json, jsonl = '' }: GivenMetric, place: Place): Extraction {
  if (regex !== undefined) return { by: 'regex', pattern: withGroup(regex, place) };
  return json === undefined ? { by: 'jsonl', pointer: jsonl } : { by: 'json', pointer: json };
}

function withGroup(pattern: RegExp, place: Place): RegExp {
  // Matches the empty text beside the pattern, and tells how many groups it has.
  const groups = (new RegExp(`${pattern.source}|`).exec('')?.length ?? 1) - 1;
  if (groups >= 1) return pattern;
  throw place.error(
    'regex',
    `Expected ${place.named('regex')} to have a group around the number but received none, e.g. 'took ([0-9.]+) s'.`,
  );
}

/** Parameter matrices: one workload for every combination of values, which stand for `{NAME}` in its settings. */
import { A_MAP } from '../../config/schema.js';
import type { Place } from '../../config/setting-place.js';
import { isMap, type RawMap, type RawValue } from '../../config/raw.js';
import { quoted } from '../../errors/usage-error.js';

const MOST_PARAMETERS = 20;
const MOST_COMBINATIONS = 200;
const LONGEST_LABEL = 120;
const parameterName = /^[A-Za-z][A-Za-z0-9]{0,30}$/;

export interface Combination {
  /** The combination as part of an id: `batch=8,precision=fp16`; null where there is no matrix. */
  label: string | null;
  values: Readonly<Record<string, string>>;
}

/** All combinations, in the order in which parameters and values are written, the last parameter fastest. */
export function combinationsOf(place: Place): Combination[] {
  const raw = place.value('matrix');
  if (raw === undefined) return [{ label: null, values: {} }];
  if (!isMap(raw)) throw place.expected('matrix', A_MAP);
  const parameters = Object.entries(raw).map(([name, list]) => [name, valuesOf(place, name, list)] as const);
  if (parameters.length === 0) throw place.expected('matrix', 'a map of parameters to lists of values');
  if (parameters.length > MOST_PARAMETERS)
    throw place.error(
      'matrix',
      `Expected ${place.named('matrix')} to have at most ${MOST_PARAMETERS} parameters but received ${parameters.length}.`,
    );
  const count = parameters.reduce((product, [, list]) => product * list.length, 1);
  if (count > MOST_COMBINATIONS)
    throw place.error(
      'matrix',
      `Expected ${place.named('matrix')} to have at most ${MOST_COMBINATIONS} combinations but received ${count}.`,
    );
  let all: Readonly<Record<string, string>>[] = [{}];
  for (const [name, list] of parameters)
    all = all.flatMap((before) => list.map((value) => ({ ...before, [name]: value })));
  const found = all.map((each) => ({ label: labelOf(each), values: each }));
  checkLabels(place, found);
  return found;
}

function valuesOf(place: Place, name: string, list: RawValue): string[] {
  if (!parameterName.test(name))
    throw place.expected('matrix', 'a map of parameters', `${quoted(name)} is no name of letters and digits`);
  const isList = Array.isArray(list) && list.length > 0;
  if (!isList || !list.every((value) => typeof value === 'string' && value !== '' && !value.includes('\0')))
    throw place.expected('matrix', 'a map of parameters to lists of values', `${name} is no such list`);
  return list as string[];
}

/** Makes a part of ids from a combination: characters other than letters, digits and `. _ + -` become `_`. */
const labelOf = (combination: Readonly<Record<string, string>>): string =>
  Object.entries(combination)
    .map(([name, value]) => `${name}=${value.replace(/[^\w.+-]/g, '_')}`)
    .join(',');

function checkLabels(place: Place, all: readonly Combination[]): void {
  const seen = new Set<string>();
  for (const { label } of all) {
    if (label === null) continue;
    if (label.length > LONGEST_LABEL)
      throw place.expected('matrix', `values that name results in ${LONGEST_LABEL} characters`, `${label} is longer`);
    if (seen.has(label))
      throw place.error('matrix', `Expected every combination to have its own name but received ${label} twice.`);
    seen.add(label);
  }
}

const placeholder = /\{([A-Za-z][A-Za-z0-9]*)\}/g;

/** Replaces `{NAME}` by the value of the parameter. Other braces stay: an argument may be JSON. */
const filledText = (text: string, { values }: Combination): string =>
  text.replace(placeholder, (whole, name: string) => (Object.hasOwn(values, name) ? (values[name] as string) : whole));

/** Fills the settings with the values of a combination; the matrix itself and the name stay as they are. */
export function filled(settings: RawMap, combination: Combination): RawMap {
  const inner = (value: RawValue): RawValue => {
    if (typeof value === 'string') return filledText(value, combination);
    return Array.isArray(value) ? value.map(inner) : mapped(value, inner);
  };
  return mapped(settings, (value, key) => (key === 'matrix' || key === 'name' ? value : inner(value)));
}

const mapped = (map: RawMap, change: (value: RawValue, key: string) => RawValue): RawMap =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));

/** Refuses a parameter that nothing uses: its combinations would be one measurement under several names. */
export function checkUsed(place: Place, settings: RawMap): void {
  const { matrix, name: _, ...rest } = settings;
  if (matrix === undefined || !isMap(matrix)) return;
  const used = new Set(textsOf(rest).flatMap((text) => [...text.matchAll(placeholder)].map(([, name]) => name)));
  for (const parameter of Object.keys(matrix))
    if (!used.has(parameter))
      throw place.error(
        'matrix',
        `Expected ${place.named('matrix')} to have parameters that are used but received ${quoted(parameter)}: write {${parameter}} where its value belongs, e.g. in argv.`,
      );
}

const textsOf = (value: RawValue): string[] =>
  typeof value === 'string' ? [value] : Object.values<RawValue>(value).flatMap(textsOf);

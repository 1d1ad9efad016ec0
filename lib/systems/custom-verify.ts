/** The `verify` steps of a custom system, by which its layer is recognised. */
import { closest } from '../errors/closest.js';
import { UsageError } from '../errors/usage-error.js';
import { baseName, functionNames, isFunctionName } from '../native/function-names.js';
import { checkPlaceholders, type Placeholder } from './placeholders.js';
import type { Size } from '../config/size.js';
import { isMap, type RawValue, Values } from '../config/values.js';

export type Step =
  | { step: 'symbolOwner'; symbol: string; matches: RegExp }
  | { step: 'symbolExported'; symbol: string }
  | { step: 'env'; name: string; value: string }
  | { step: 'smCount'; least: number; most: number }
  | { step: 'totalMemory'; least: Size; most: Size }
  | { step: 'allocationCanary'; size: Size }
  | { step: 'command'; argv: readonly string[]; exit: number; matches: RegExp | null };

type Reader = (values: Values, key: string, allowed: readonly Placeholder[]) => Step;

/** Patterns that take forever are usually long. */
const LONGEST_PATTERN = 200;

const readers: Record<Step['step'], Reader> = {
  symbolOwner(values, key) {
    const nested = values.nested(key, ['symbol', 'matches']);
    const matches = pattern(nested, 'matches');
    if (!matches) throw nested.expected('matches', 'a regular expression');
    const symbol = nested.required('symbol');
    if (!isFunctionName(symbol)) throw nested.expected('symbol', 'a function whose owner is known', nearest(symbol));
    return { step: 'symbolOwner', symbol, matches };
  },
  symbolExported: (values, key) => ({ step: 'symbolExported', symbol: values.required(key) }),
  env(values, key, allowed) {
    const nested = values.nested(key, ['name', 'value']);
    const value = nested.required('value');
    nested.within('value', () => checkPlaceholders(value, nested.named('value'), allowed));
    return { step: 'env', name: nested.required('name'), value };
  },
  smCount(values, key) {
    const [least, most] = pair(values, key).map((text) => (/^\d{1,6}$/.test(text) ? Number(text) : null));
    if (least == null || most == null || least > most) throw values.expected(key, 'two integers, the smaller first');
    return { step: 'smCount', least, most };
  },
  totalMemory(values, key) {
    const [least = '', most = ''] = pair(values, key);
    const bounds = new Values({ least, most }, values.named(key), ['least', 'most']);
    const size = (bound: string) => values.within(key, () => bounds.size(bound, true)) as Size;
    return { step: 'totalMemory', least: size('least'), most: size('most') };
  },
  allocationCanary(values, key) {
    values.required(key);
    return { step: 'allocationCanary', size: values.size(key, true) as Size };
  },
  command(values, key, allowed) {
    const nested = values.nested(key, ['argv', 'exit', 'matches']);
    const argv = nested.strings('argv');
    if (!argv) throw nested.expected('argv', 'a command as a list of arguments');
    for (const part of argv) nested.within('argv', () => checkPlaceholders(part, nested.named('argv'), allowed));
    return { step: 'command', argv, exit: nested.integer('exit', 0, 255) ?? 0, matches: pattern(nested, 'matches') };
  },
};

function nearest(symbol: string): string {
  const near = closest(symbol, [...functionNames, ...functionNames.map(baseName)]);
  return near === null ? `there are ${functionNames.map(baseName).join(', ')}.` : `did you mean ${near}?`;
}

const stepNames = Object.keys(readers) as Step['step'][];

/** Each entry of `verify` is a map of one step. */
export function verifySteps(values: Values, allowed: readonly Placeholder[]): Step[] {
  const list = values.raw('verify');
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw values.expected('verify', 'a list of steps');
  return list.map((entry, index) => readStep(values, entry, index, allowed));
}

function readStep(values: Values, entry: RawValue, index: number, allowed: readonly Placeholder[]): Step {
  if (!isMap(entry)) throw values.expected('verify', `a list of steps (${stepNames.join(', ')})`);
  const step = new Values(entry, `a step of ${values.named('verify')}`, stepNames, ['verify', index]);
  const [key, ...more] = Object.keys(entry) as Step['step'][];
  if (!key || more.length > 0) throw values.expected('verify', 'a list of maps with one step each');
  return readers[key](step, key, allowed);
}

function pair(values: Values, key: string): string[] {
  const list = values.strings(key);
  if (list?.length !== 2) throw values.expected(key, 'a list of two bounds');
  return list;
}

/** An empty pattern matches everything, as in the documentation's example. */
function pattern(values: Values, key: string): RegExp | null {
  const text = values.raw(key);
  if (text === undefined) return null;
  if (typeof text !== 'string' || text.length > LONGEST_PATTERN)
    throw values.expected(key, `a regular expression of at most ${LONGEST_PATTERN} characters`);
  return values.within(key, () => compile(text, values.named(key)));
}

function compile(text: string, what: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new UsageError(`Expected ${what} to be a regular expression: ${(error as Error).message}.`);
  }
}

/**
 * Fields of settings. A schema of them says how settings are written, read and described: the reader, the help of
 * `--system`, the public types, schema/*.schema.json and the tables in docs follow from it.
 */
import * as v from 'valibot';
import { didYouMean } from '../errors/closest.js';
import { listed } from '../errors/listed.js';
import { quoted } from '../errors/usage-error.js';
import { type DurationLimits, readDuration } from './duration.js';
import { isMap, type RawMap, type RawValue } from './raw.js';
import { Refused } from './refused.js';
import { readSize, type Size } from './size.js';

/** What describes a field beside its reader. */
export interface FieldForm {
  /** What it has to be, in words. */
  what?: string;
  /** JSON Schema of what a user may write. */
  json: Readonly<Record<string, unknown>>;
  /** How the command line gives it: `list`s are repeated, entries of `map`s are `KEY.NAME=value`. */
  given?: 'list' | 'map';
  /** What stands for the value in the help. */
  placeholder?: string | undefined;
}

export const A_MAP = 'a map of keys to values';

/** `Written` is what a program may give; the reader always gets text, lists and maps. */
export type Field<Written, Value> = v.GenericSchema<Written, Value>;

export function field<Written, Value>(
  form: FieldForm,
  read: (raw: RawValue) => Value | Refused,
): Field<Written, Value> {
  return v.pipe(
    v.custom<Written>(() => true),
    v.rawTransform<Written, Value>(({ dataset, addIssue, NEVER }) => {
      const value = read(dataset.value as RawValue);
      if (!(value instanceof Refused)) return value;
      addIssue({ expected: value.what, message: value.hint });
      return NEVER;
    }),
    v.metadata({ ...form }),
  );
}

/** A field of text. `what` is what it has to be, in words. */
export const scalar = <Written extends string | number | boolean, Value>(
  what: string,
  form: FieldForm,
  read: (text: string) => Value | Refused | undefined,
): Field<Written, Value> =>
  field({ ...form, ...(what !== 'text' && { what }) }, (raw) => {
    // A default is given as a program would.
    const text = typeof raw === 'object' ? '' : String(raw);
    if (text === '' || text.includes('\0')) return new Refused(what);
    return read(text) ?? new Refused(what);
  });

/** Makes a setting one that may be left out. A default that depends on others belongs in the description. */
export function key<Schema extends v.GenericSchema>(
  schema: Schema,
  description: string,
): v.OptionalSchema<Schema, undefined>;
export function key<Schema extends v.GenericSchema, const Default extends v.InferInput<Schema>>(
  schema: Schema,
  description: string,
  byDefault: Default,
): v.OptionalSchema<Schema, Default>;
export function key(schema: v.GenericSchema, description: string, byDefault?: unknown) {
  return v.optional(v.pipe(schema, v.description(description)), byDefault);
}

/** A setting that may not be left out. */
export const needed = <Schema extends v.GenericSchema>(schema: Schema, description: string) =>
  v.pipe(schema, v.description(description));

export const text = (placeholder?: string): Field<string, string> =>
  scalar('text', { json: { type: 'string', minLength: 1 }, placeholder }, String);

export const matching = (pattern: RegExp, what: string, placeholder?: string): Field<string, string> =>
  scalar(what, { json: { type: 'string', pattern: pattern.source }, placeholder }, (given) =>
    pattern.test(given) ? given : undefined,
  );

export const choice = <const T extends string>(choices: readonly T[]): Field<T, T> => {
  const what = listed(choices, 'or');
  return scalar(what, { json: { enum: choices }, placeholder: choices.join('|') }, (given) => {
    if (choices.includes(given as T)) return given as T;
    return new Refused(what, didYouMean(given, choices, ''));
  });
};

/** A text or `false`, written as such. */
export const constant = <const T extends string | boolean>(value: T): Field<T, T> =>
  scalar(String(value), { json: { const: value }, placeholder: String(value) }, (given) =>
    given === String(value) ? value : undefined,
  );

export const flag = (): Field<boolean, boolean> =>
  scalar('true or false', { json: { type: 'boolean' }, placeholder: 'true|false' }, (given) =>
    given === 'true' ? true : given === 'false' ? false : undefined,
  );

export const integer = (least: number, most: number, placeholder?: string): Field<number, number> =>
  scalar(
    `an integer from ${least} to ${most}`,
    { json: { type: 'integer', minimum: least, maximum: most }, placeholder },
    (given) => (/^\d+$/.test(given) && Number(given) >= least && Number(given) <= most ? Number(given) : undefined),
  );

/** 1 to 100 per cent. */
export const percent = (): Field<number, number> => integer(1, 100, 'PERCENT');

const decimal = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

interface Range {
  least?: number;
  /** Excludes `least` itself. */
  isAbove?: boolean;
  most?: number;
}

/** A decimal number; `what` describes it, e.g. `a number of seconds`. */
export const number = (what: string, { least, isAbove = false, most }: Range = {}): Field<number, number> =>
  scalar(
    what,
    {
      json: {
        type: 'number',
        ...(least !== undefined && { [isAbove ? 'exclusiveMinimum' : 'minimum']: least }),
        ...(most !== undefined && { maximum: most }),
      },
    },
    (given) => {
      const value = Number(given);
      const isInside = value >= (least ?? -Infinity) && value <= (most ?? Infinity) && !(isAbove && value === least);
      return decimal.test(given) && Number.isFinite(value) && isInside ? value : undefined;
    },
  );

/** A number of seconds, at most a day. */
export const seconds = ({ isAbove = false } = {}): Field<number, number> =>
  number(`a number of seconds ${isAbove ? 'above' : 'from'} 0 and up to 86400`, { least: 0, isAbove, most: 86_400 });

/** `100ms`, in milliseconds. */
export const duration = (limits: DurationLimits): Field<string, number> =>
  scalar('a duration', { json: { type: 'string' }, placeholder: 'TIME' }, (given) => readDuration(given, limits));

/** `10GiB`; `mayBePercent`: or `50%` of the card. */
export const size = ({ mayBePercent = true } = {}): Field<string, Size> =>
  scalar('a size', { json: { type: 'string' }, placeholder: 'SIZE' }, (given) => readSize(given, mayBePercent));

/** YAML reads `4` and `true` as other types; both are text here. */
export const anyScalar = { type: ['string', 'number', 'boolean'] };
type Scalar = string | number | boolean;

const isText = (value: RawValue): value is string => typeof value === 'string' && value !== '' && !value.includes('\0');

export const texts = (what = 'a list of texts'): Field<readonly Scalar[], string[]> =>
  field({ json: { type: 'array', items: anyScalar, minItems: 1 }, given: 'list' }, (raw) =>
    Array.isArray(raw) && raw.length > 0 && raw.every(isText) ? raw : new Refused(what),
  );

function isCommand(value: RawValue): value is string[] {
  const isArgument = (part: RawValue) => typeof part === 'string' && !part.includes('\0');
  return Array.isArray(value) && value.every(isArgument) && value[0] !== undefined && value[0] !== '';
}

const commandForm = { type: 'array', items: anyScalar, minItems: 1 };

/** A program and its arguments. A single text is refused, because it would need a shell. */
export const command = (): Field<readonly Scalar[], string[]> =>
  field({ json: commandForm }, (raw) => (isCommand(raw) ? raw : new Refused('a command as a list of arguments')));

/** One command, or a list of them. */
export const commands = (): Field<readonly Scalar[] | readonly (readonly Scalar[])[], string[][]> =>
  field({ json: { anyOf: [commandForm, { type: 'array', items: commandForm }] } }, (raw) => {
    const list = Array.isArray(raw) && raw.every(Array.isArray) ? raw : [raw];
    return list.every(isCommand) ? list : new Refused('a command as a list of arguments, or a list of such');
  });

/** Names that both ELF and shells allow. */
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const variables = (): Field<Readonly<Record<string, Scalar>>, Record<string, string>> =>
  field({ json: { type: 'object', additionalProperties: anyScalar }, given: 'map' }, (raw) => {
    if (!isMap(raw)) return new Refused(A_MAP);
    for (const [name, value] of Object.entries(raw)) {
      if (!variableName.test(name)) return new Refused('a map of variable names', `${name} is none`);
      if (typeof value !== 'string' || value.includes('\0'))
        return new Refused('a map of variables to texts', `${name} is not text`);
    }
    return raw as Record<string, string>;
  });

export const variableNames = (): Field<readonly string[], string[]> =>
  field({ json: { type: 'array', items: { type: 'string', pattern: variableName.source } }, given: 'list' }, (raw) => {
    if (!Array.isArray(raw) || raw.length === 0 || !raw.every(isText)) return new Refused('a list of texts');
    const wrong = raw.find((name) => !variableName.test(name));
    return wrong === undefined ? raw : new Refused('a list of variable names', `${quoted(wrong)} is none`);
  });

/** A regular expression. `flags` are those of RegExp. */
export const pattern = (longest: number, flags = ''): Field<string, RegExp> =>
  field({ json: { type: 'string', maxLength: longest } }, (raw) => {
    if (typeof raw !== 'string' || raw.length > longest)
      return new Refused(`a regular expression of at most ${longest} characters`);
    try {
      return new RegExp(raw, flags);
    } catch (error) {
      return new Refused('a regular expression', `${(error as Error).message}.`);
    }
  });

/** A map that is read later, with what it then is. */
export const map = <Written>(json: FieldForm['json'], what = A_MAP): Field<Written, RawMap> =>
  field({ json, given: 'map' }, (raw) => (isMap(raw) ? raw : new Refused(what)));

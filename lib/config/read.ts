/** Reads settings by their schema, with errors that name the setting. */
import * as v from 'valibot';
import { didYouMean } from '../errors/closest.js';
import { listed } from '../errors/listed.js';
import { quoted } from '../errors/usage-error.js';
import type { Place, SettingError } from './setting-place.js';
import { A_MAP, constant, type Field, type FieldForm, map } from './schema.js';
import { isMap, type RawMap, type RawValue } from './raw.js';

/** A map of settings, by key. */
export type Settings = v.GenericSchema & { readonly entries: v.ObjectEntries };

type SettingsOf<Entries extends v.ObjectEntries> = v.StrictObjectSchema<
  Entries,
  (issue: v.StrictObjectIssue) => string
>;

export const settings = <const Entries extends v.ObjectEntries>(entries: Entries): SettingsOf<Entries> =>
  v.strictObject(entries, (issue) => whatOf(entries, issue));

/** What a missing setting has to be, in words. */
function whatOf(entries: v.ObjectEntries, { path }: v.BaseIssue<unknown>): string {
  const schema = entries[String(path?.[0]?.key)] as v.GenericSchema | undefined;
  return schema ? ((v.getMetadata(schema) as Partial<FieldForm>).what ?? '') : '';
}

/** Throws SettingError. */
export function read<Schema extends Settings>(schema: Schema, place: Place): v.InferOutput<Schema> {
  refuseUnknown(schema, place);
  const result = v.safeParse(schema, place.raw);
  if (result.success) return result.output;
  throw errorOf(result.issues[0], place);
}

/** Throws SettingError for another key, and returns the place. */
export function checkKeys(place: Place, keys: readonly string[]): Place {
  for (const key of Object.keys(place.raw)) if (!keys.includes(key)) throw unknown(key, keys, place);
  return place;
}

/** A list of maps or texts; `what` is what it has to be, in words. */
export const list = <Schema extends v.GenericSchema>(item: Schema, what: string) => v.array(item, what);

/** Settings that belong together: the JSON Schema and the public types tell such forms apart. */
interface Form {
  /** Settings that it has to have. */
  with: readonly string[];
  without: readonly string[];
  /** What settings of a choice then are. */
  where?: Readonly<Record<string, readonly string[]>>;
}

/** Describes forms; the reader of the settings checks them itself. */
export const ofForms = <const Entries extends v.ObjectEntries>(
  schema: SettingsOf<Entries>,
  ...forms: readonly (readonly Form[])[]
): SettingsOf<Entries> => v.pipe(schema, v.metadata({ forms }));

/** Settings of which one of `keys` has to be given. */
export const exactlyOne = <const Entries extends v.ObjectEntries>(
  entries: Entries,
  keys: readonly (keyof Entries & string)[],
): SettingsOf<Entries> =>
  v.pipe(
    settings(entries),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const given = keys.filter((key) => (dataset.value as Partial<Record<string, unknown>>)[key] !== undefined);
      if (given.length !== 1)
        addIssue({
          expected: `one of ${listed(keys)}`,
          received: given[1] ?? keys[0] ?? '',
          message: `${given.length === 0 ? 'none' : listed(given)}.`,
        });
    }),
    v.metadata({ forms: [oneEach(keys)] }),
  );

const oneEach = (keys: readonly string[]): Form[] =>
  keys.map((key) => ({ with: [key], without: keys.filter((other) => other !== key) }));

type Entries = Readonly<Record<string, v.GenericSchema>>;
type OneOf<Kinds> = { [Key in keyof Kinds]: Record<Key, Kinds[Key]> }[keyof Kinds];

/** A map with one of these settings. */
export const oneOf = <const Each extends Entries>(
  each: Each,
): v.GenericSchema<
  OneOf<{ [Key in keyof Each]: v.InferInput<Each[Key]> }>,
  OneOf<{ [Key in keyof Each]: v.InferOutput<Each[Key]> }>
> =>
  exactlyOne(
    Object.fromEntries(Object.entries(each).map(([key, schema]) => [key, v.optional(schema)])),
    Object.keys(each),
  ) as never;

/** A map of names to values, each by the same schema. Unlike valibot's `record` it takes any name. */
export const mapOf = <Schema extends v.GenericSchema>(
  value: Schema,
): Field<Readonly<Record<string, v.InferInput<Schema>>>, ReadonlyMap<string, v.InferOutput<Schema>>> => {
  const each: v.GenericSchema = {
    ...v.custom(() => true),
    '~run'({ value: raw }, config) {
      const entries = Object.entries(raw as RawMap).map(
        ([key, own]) => [key, own, value['~run']({ value: own }, config)] as const,
      );
      const issues = entries.flatMap(([key, own, result]) =>
        (result.issues ?? []).map((issue) => ({
          ...issue,
          path: [{ type: 'object', origin: 'value', input: raw, key, value: own }, ...(issue.path ?? [])],
        })),
      );
      const found = new Map(entries.map(([key, , result]) => [key, result.value]));
      return { typed: true, value: found, ...(issues.length > 0 && { issues }) } as never;
    },
  };
  return v.pipe(
    v.lazy((raw) => (isMap(raw as RawValue) ? each : map({}))),
    v.metadata({ values: value }),
  ) as never;
};

/** A map of settings that is read on its own. */
export const later = (schema: Settings, what?: string): Field<Readonly<Record<string, unknown>>, RawMap> =>
  v.pipe(map<Readonly<Record<string, unknown>>>({}, what), v.metadata({ later: schema }));

/** A map of names to maps of settings, or nothing, each of which is read on its own. */
export const laterEach = (schema: Settings): Field<Readonly<Record<string, unknown>>, RawMap> =>
  v.pipe(map<Readonly<Record<string, unknown>>>({}), v.metadata({ laterEach: schema }));

type Either<A extends v.GenericSchema, B extends v.GenericSchema> = v.GenericSchema<
  v.InferInput<A> | v.InferInput<B>,
  v.InferOutput<A> | v.InferOutput<B>
>;

/** One scalar, or a map of settings. */
export const either = <Scalar extends v.GenericSchema, Map extends v.GenericSchema>(
  scalar: Scalar,
  map: Map,
): Either<Scalar, Map> =>
  v.pipe(
    v.lazy((raw) => (typeof raw === 'object' ? map : scalar)),
    v.metadata({ either: [scalar, map] }),
  );

/** One text, or what else it may be. */
export const orText = <const Text extends string | boolean, Other extends v.GenericSchema>(
  text: Text,
  other: Other,
): Either<v.GenericSchema<Text, Text>, Other> => {
  const only = constant(text);
  return v.pipe(
    v.lazy((raw) => (String(raw) === String(text) ? only : other)),
    v.metadata({ either: [only, other] }),
  );
};

export const keysOf = <Schema extends Settings>({ entries }: Schema) =>
  Object.keys(entries) as (keyof Schema['entries'] & string)[];

interface Parts {
  values?: v.GenericSchema;
  either?: readonly [v.GenericSchema, v.GenericSchema];
}

/** Before all else, and by own keys: a key such as `constructor` would be found in any object. */
function refuseUnknown(schema: v.GenericSchema, place: Place): void {
  const { entries } = bare(schema) as Partial<Settings>;
  const { values, either: ways } = v.getMetadata(bare(schema)) as Parts;
  if (ways) refuseUnknown(ways[1], place);
  if (entries) checkKeys(place, Object.keys(entries));
  for (const [key, value] of Object.entries(place.raw)) {
    const inner = values ?? (entries?.[key] as v.GenericSchema | undefined);
    if (inner === undefined) continue;
    if (isMap(value)) refuseUnknown(inner, place.inside(key));
    const { item } = bare(inner) as { item?: v.GenericSchema };
    if (item && Array.isArray(value)) for (const index of value.keys()) refuseUnknown(item, place.entry(key, index));
  }
}

/** Removes `optional` from around a schema. */
export function bare(schema: v.GenericSchema): v.GenericSchema {
  const { wrapped } = schema as { wrapped?: v.GenericSchema };
  return wrapped === undefined ? schema : bare(wrapped);
}

function unknown(key: string, keys: readonly string[], place: Place): SettingError {
  const hint = didYouMean(key, keys, `it has ${keys.join(', ')}.`);
  return place.error(key, `Expected a key of ${place.owner} but received ${quoted(key)}: ${hint}`);
}

/** `keys` lead from the place to what is wrong. */
function errorOf(issue: v.BaseIssue<unknown>, place: Place, keys = keysTo(issue)): SettingError {
  const [key, next] = keys;
  // It is of the whole map.
  if (key === undefined)
    return place.error(
      issue.received,
      `Expected ${place.owner} to have ${issue.expected} but received ${issue.message}`,
    );
  const isEntry = typeof next === 'number';
  const rest = keys.slice(isEntry ? 2 : 1);
  if (rest.length === 0 && issue.type !== 'raw_check') return ofSetting(issue, place, String(key), next);
  return errorOf(issue, isEntry ? place.entry(String(key), next) : place.inside(String(key)), rest);
}

const keysTo = ({ path }: v.BaseIssue<unknown>) => (path ?? []).map(({ key }) => key as string | number);

/** `index` is that of the entry of a list, if the setting is one. */
function ofSetting(
  issue: v.BaseIssue<unknown>,
  place: Place,
  key: string,
  index: string | number | undefined,
): SettingError {
  if (issue.type === 'strict_object' && issue.received === 'undefined')
    return place.error(
      key,
      `Expected ${place.owner} to have ${key}${issue.message === '' ? '' : `: ${issue.message}`}.`,
    );
  if (typeof index === 'number')
    return place.expected(
      key,
      issue.expected === 'Object' ? 'a list of maps' : (issue.expected ?? ''),
      `entry ${index + 1} is none.`,
    );
  if (issue.type === 'strict_object') return place.expected(key, A_MAP);
  if (issue.type === 'array') return place.expected(key, issue.message);
  return place.expected(key, issue.expected ?? '', issue.message === '' ? null : issue.message);
}

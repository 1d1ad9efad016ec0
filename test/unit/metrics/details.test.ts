/** The schemas of details: what they refuse, and that recorded documents are as the JSON Schema says. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { withCheckedDetails } from '../../../lib/metrics/core/checked-details.js';
import { commonDetails, count, described, rowOrReason, rows, text } from '../../../lib/metrics/core/details.js';
import { metrics } from '../../../lib/metrics/registry.js';
import { metric, result, runDocument, without } from '../run/fixtures.js';

const definition = {
  ...metric('OH-001'),
  details: v.strictObject({
    calls: rows(rowOrReason({ call: text('The call') }, { launches: count('Launches') }), 'A row per call'),
    note: v.optional(text('A note')),
  }),
};
const launched = result('OH-001', { details: { calls: [{ call: 'a', launches: 3 }] } });

describe('the details of a fresh result', () => {
  it.each([
    ['as the schema says', launched.details],
    ['with a row without a number', { calls: [{ call: 'a', unsupported: 'no such call' }] }],
    ['with what every result may have', { ...launched.details, pidMapping: 'same', scheduling: null }],
  ])('may be %s', (_, details) => {
    const one = result('OH-001', { details });
    expect(withCheckedDetails(definition, one)).toBe(one);
  });

  it.each([
    ['a field that is not in the schema', { ...launched.details, colour: 'red' }, 'at colour'],
    ['a field of another type', { calls: 'none' }, 'at calls'],
    ['a number that is none', { calls: [{ call: 'a', launches: Number.NaN }] }, 'at calls.0'],
    ['nothing', {}, 'at calls'],
  ])('may not be %s', (_, details, place) => {
    expect(() => withCheckedDetails(definition, result('OH-001', { details }))).toThrow(place);
  });

  it('may be a part of them if there is no number, but nothing else', () => {
    const nothing = without(launched, 'unsupported', 'why', {});
    expect(withCheckedDetails(definition, nothing)).toBe(nothing);
    const other = without(launched, 'unsupported', 'why', { colour: 'red' });
    expect(() => withCheckedDetails(definition, other)).toThrow('at colour');
  });
});

/** Every object, list and leaf in a schema, with its place. */
function fieldsOf(schema: unknown, place = ''): [place: string, schema: v.GenericSchema][] {
  const { entries, wrapped, item, options } = schema as Partial<Record<string, object>>;
  const inner = Object.entries(entries ?? {}).flatMap(([key, field]): [string, v.GenericSchema][] => [
    [`${place}.${key}`, field as v.GenericSchema],
    ...fieldsOf(field, `${place}.${key}`),
  ]);
  const others = [wrapped, item, ...(Array.isArray(options) ? (options as unknown[]) : [])];
  return [...inner, ...others.flatMap((each) => (typeof each === 'object' ? fieldsOf(each, place) : []))];
}

const isDescribed = (schema: v.GenericSchema): boolean =>
  v.getDescription(schema) !== undefined ||
  ('wrapped' in schema && isDescribed((schema as unknown as { wrapped: v.GenericSchema }).wrapped));

describe('the schema of details', () => {
  it('is beside the definition of every metric', () =>
    expect(metrics.filter(({ details }) => details === undefined).map(({ id }) => id)).toEqual([]));

  const own = metrics.flatMap(({ id, details }) => (details ? [[id, details] as const] : []));

  it.each([...own, ['every result', commonDetails] as const])('of %s says of every field what it is', (_, details) => {
    expect(fieldsOf(details).flatMap(([place, field]) => (isDescribed(field) ? [] : [place]))).toEqual([]);
  });

  it('sees a field of which it is not said', () => {
    const inner = described(v.strictObject({ silent: v.nullable(v.number()) }), 'A field');
    expect(fieldsOf(v.strictObject({ inner })).map(([place, field]) => [place, isDescribed(field)])).toEqual([
      ['.inner', true],
      ['.inner.silent', false],
    ]);
  });
});

describe('the JSON Schema of documents', () => {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const schemaOf = (kind: string) =>
    ajv.compile(JSON.parse(readFileSync(`${root}schema/${kind}-document.schema.json`, 'utf8')) as object);
  const schemas = { run: schemaOf('run'), comparison: schemaOf('comparison') };
  const read = (file: string) => {
    const bytes = readFileSync(file);
    return JSON.parse((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()) as {
      kind?: string;
      schemaVersion?: number;
    };
  };
  const recorded = readdirSync(`${root}bench/results`, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.json(\.gz)?$/.test(name),
  );

  it('has the details of every metric', () => {
    const withDetails = (details: object) => runDocument({ metrics: [result('OH-001', { details: { ...details } })] });
    const mapped = { calls: [{ call: 'cuLaunchKernel', submitUs: 2 }] };
    expect(schemas.run(withDetails(mapped))).toBe(true);
    expect(schemas.run(withDetails({ calls: [{ call: 'cuLaunchKernel', submitUs: '2' }] }))).toBe(false);
    expect(schemas.run(withDetails({ calls: 2 }))).toBe(false);
  });

  it.each(recorded)('holds for the recorded %s', (name) => {
    const document = read(`${root}bench/results/${name}`);
    if (document.schemaVersion !== 3 || (document.kind !== 'run' && document.kind !== 'comparison')) return;
    const validate = schemas[document.kind];
    expect(validate(document), ajv.errorsText(validate.errors)).toBe(true);
  });
});

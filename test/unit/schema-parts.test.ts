/** The JSON Schema of documents has every large part once, and validates as it would with all parts written out. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { result, runDocument } from './run/fixtures.js';

interface Schema {
  [keyword: string]: unknown;
  $defs?: Record<string, Schema>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const { withSharedParts } = (await import(`${root}scripts/shared-schemas.js`)) as {
  withSharedParts: (schema: Schema) => Schema;
};

const replaced = (value: unknown, change: (schema: Schema) => unknown): unknown =>
  Array.isArray(value)
    ? value.map((each) => replaced(each, change))
    : typeof value === 'object' && value !== null
      ? change(value as Schema)
      : value;

/** Without references: the definition is in every place. */
function writtenOut({ $defs = {}, ...document }: Schema): Schema {
  function inPlace({ $ref, ...schema }: Schema): Schema {
    if (typeof $ref === 'string') return inPlace($defs[$ref.replace('#/$defs/', '')] as Schema);
    const { allOf, ...rest } = schema;
    const [only, ...others] = (allOf ?? []) as Schema[];
    if (only?.$ref !== undefined && others.length === 0) return { ...inPlace(only), ...rest };
    return Object.fromEntries(Object.entries(schema).map(([key, each]) => [key, replaced(each, inPlace)]));
  }
  return inPlace(document);
}

const compiled = (schema: Schema) => {
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  return (document: unknown): boolean => validate(document);
};

const reading = { type: 'object', properties: { ms: { type: 'number', description: 'A time' } }, required: ['ms'] };
const list = { type: 'array', items: reading, minItems: 1, description: 'A reading of each process' };

describe('a schema with repeated parts', () => {
  it('has them once, with the name of the field', () => {
    const schema = { type: 'object', properties: { alone: list, beside: { anyOf: [list, { type: 'null' }] } } };
    const shared = withSharedParts(schema);
    const reference = { $ref: '#/$defs/alone' };
    expect(shared).toEqual({
      type: 'object',
      properties: { alone: reference, beside: { anyOf: [reference, { type: 'null' }] } },
      $defs: { alone: list },
    });
    expect(writtenOut(shared)).toEqual(schema);
  });

  it('has one in the descriptions of several', () => {
    const other = { ...list, description: 'Others' };
    const { description: _, ...described } = list;
    const shared = withSharedParts({ properties: { alone: list, beside: other } });
    const allOf = [{ $ref: '#/$defs/alone' }];
    expect(shared).toEqual({
      properties: { alone: { allOf, description: list.description }, beside: { allOf, description: 'Others' } },
      $defs: { alone: described },
    });
    expect(writtenOut(shared)).toEqual({ properties: { alone: list, beside: other } });
  });

  it('has no other name twice, and uses the definitions that are there', () => {
    const other = { ...list, minItems: 2 };
    const shared = withSharedParts({
      properties: { a: { properties: { times: list } }, b: { properties: { times: other } }, c: list, d: other },
      $defs: { one: reading, two: reading, times: { type: 'null' } },
    });
    const one = { $ref: '#/$defs/one' };
    expect(shared).toEqual({
      properties: {
        a: { properties: { times: { $ref: '#/$defs/times-2' } } },
        b: { properties: { times: { $ref: '#/$defs/times-3' } } },
        c: { $ref: '#/$defs/times-2' },
        d: { $ref: '#/$defs/times-3' },
      },
      $defs: {
        one: reading,
        two: one,
        times: { type: 'null' },
        'times-2': { ...list, items: one },
        'times-3': { ...other, items: one },
      },
    });
  });

  it('stays as it is without any', () => {
    const schema = { type: 'object', properties: { alone: list, short: { type: 'null' }, also: { type: 'null' } } };
    expect(withSharedParts(schema)).toEqual(schema);
  });
});

describe.each(['run', 'comparison'])('the JSON Schema of a %s document', (kind) => {
  const schema = JSON.parse(readFileSync(`${root}schema/${kind}-document.schema.json`, 'utf8')) as Schema;

  it('has no large part twice', () => {
    const seen = new Map<string, number>();
    const count = (part: Schema): Schema => {
      const text = JSON.stringify(part);
      if (text.length > 200) seen.set(text, (seen.get(text) ?? 0) + 1);
      for (const each of Object.values(part)) replaced(each, count);
      return part;
    };
    count(schema);
    expect([...seen].filter(([, times]) => times > 1).map(([text]) => text)).toEqual([]);
  });

  it('is the same again from its written-out form', () => {
    const whole = writtenOut(schema);
    expect(writtenOut(withSharedParts(whole))).toEqual(whole);
  });
});

describe('a document', () => {
  const schema = JSON.parse(readFileSync(`${root}schema/run-document.schema.json`, 'utf8')) as Schema;
  const [shared, whole] = [compiled(schema), compiled(writtenOut(schema))];
  const last = { smClockMhz: 1, memoryClockMhz: null, temperatureC: 40, powerW: 90, performanceState: 0 };
  const call = { call: 'cuLaunchKernel', submitUs: 2, submitCi95: [1, 3] };
  const withDetails = (details: object) => runDocument({ metrics: [result('OH-001', { details: { ...details } })] });

  it.each([
    ['accepted', 'with a part that many metrics have', { health: { readings: 3, last } }, true],
    [
      'refused',
      'with a wrong field in such a part',
      { health: { readings: 3, last: { ...last, powerW: '9' } } },
      false,
    ],
    ['refused', 'with a wrong such part', { health: 3 }, false],
    ['accepted', 'with an interval', { calls: [call] }, true],
    ['accepted', 'without an interval', { calls: [{ ...call, submitCi95: null }] }, true],
    ['refused', 'with an interval that is none', { calls: [{ ...call, submitCi95: ['1', 3] }] }, false],
  ])('is %s %s', (_, __, details, expected) => {
    const document = withDetails(details);
    expect([shared(document), whole(document)]).toEqual([expected, expected]);
  });
});

/**
 * Names and descriptions of schemas, which the JSON Schemas, the public types and the docs have as well. The type stays
 * that of the schema, which keeps declarations short.
 */
import * as v from 'valibot';

/** Says what a field is. */
export const described = <const Schema extends v.GenericSchema>(schema: Schema, about: string): Schema =>
  v.pipe(schema, v.description(about)) as v.GenericSchema as Schema;

/** Gives what a schema accepts the name of its public type, and says what it is. */
export const named = <const Schema extends v.GenericSchema>(name: string, schema: Schema, about: string): Schema =>
  v.pipe(schema, v.title(name), v.description(about)) as v.GenericSchema as Schema;

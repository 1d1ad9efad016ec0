/** How settings are given on the command line. */
import * as v from 'valibot';
import type { FieldForm } from './schema.js';
import { bare } from './read.js';

type Schema = v.GenericSchema;

/** What describes a field itself. */
const fieldForm = (schema: Schema): Partial<FieldForm> => v.getMetadata(bare(schema)) as Partial<FieldForm>;

/** `list`s are repeated, entries of `map`s are `KEY.NAME=value`. */
export function formOf(schema: v.ObjectEntries[string]): 'list' | 'map' | null {
  const { type } = bare(schema as Schema);
  return type === 'strict_object' ? 'map' : (fieldForm(schema as Schema).given ?? null);
}

// TypeScript of valibot schemas, with their descriptions as comments; schemas with a title are named types.
import * as v from 'valibot';

const simple = ['number', 'string', 'boolean', 'null', 'unknown', 'undefined'];

/** Also that of what it wraps: a field is described before it is made optional. */
export const aboutOf = (schema) => v.getDescription(schema) ?? (schema.wrapped ? aboutOf(schema.wrapped) : '');

const comment = (text) => (text ? `/** ${text} */\n` : '');

const literal = (value) => JSON.stringify(value);

const inBrackets = (type) => (type.includes('|') ? `(${type})` : type);

function objectType(entries) {
  const fields = Object.entries(entries).map(([key, schema]) => {
    const isOptional = schema.type === 'optional';
    const name = /^\w+$/.test(key) ? key : literal(key);
    return `${comment(aboutOf(schema))}${name}${isOptional ? '?' : ''}: ${typeOf(schema)};\n`;
  });
  return `{\n${fields.join('')}}`;
}

/** The type without its own name. */
function bodyOf(schema) {
  const { type, wrapped, item, items, options, entries } = schema;
  if (simple.includes(type)) return type;
  if (type === 'optional') return `${typeOf(wrapped)} | undefined`;
  if (type === 'nullable') return `${typeOf(wrapped)} | null`;
  if (type === 'literal') return literal(schema.literal);
  if (type === 'picklist') return options.map(literal).join(' | ');
  if (type === 'array') return `${inBrackets(typeOf(item))}[]`;
  if (type === 'tuple') return `[${items.map(typeOf).join(', ')}]`;
  if (type === 'union' || type === 'variant') return options.map(typeOf).join(' | ');
  if (type === 'record') return `Record<${typeOf(schema.key)}, ${typeOf(schema.value)}>`;
  if (type === 'strict_object') return objectType(entries);
  throw new Error(`scripts/schema-types.js has no type for ${type}.`);
}

const typeOf = (schema) => v.getTitle(schema) ?? bodyOf(schema);

/** Declares a type of this name; not an interface, which would not be assignable to a Record. */
export const declarationOf = (name, schema) =>
  `${comment(v.getDescription(schema))}export type ${name} = ${bodyOf(schema)};\n`;

const children = ({ wrapped, item, items = [], options = [], entries = {}, key, value }) =>
  [wrapped, item, ...items, ...options, ...Object.values(entries), key, value].filter(
    (each) => each?.kind === 'schema',
  );

/** The schemas with a title among these and in them, by their titles. */
export function namedIn(schemas, found = new Map()) {
  for (const schema of schemas) {
    const name = v.getTitle(schema);
    if (name !== undefined && !found.has(name)) found.set(name, schema);
    namedIn(children(schema), found);
  }
  return found;
}

// docs/details.md and the JSON Schema of details, from the schemas beside the metrics (through dist).
import * as v from 'valibot';
import { commonDetails } from '../dist/metrics/core/details.js';
import { metrics } from '../dist/metrics/registry.js';
import { table } from './markdown.js';
import { aboutOf } from './schema-types.js';

const wrappers = ['optional', 'nullable'];
const simple = { number: 'number', string: 'text', boolean: 'true or false', null: 'null', unknown: 'any' };

function typeOf(schema) {
  const { type, wrapped, item, options, literal } = schema;
  if (type === 'optional') return typeOf(wrapped);
  if (type === 'nullable') return `${typeOf(wrapped)} or null`;
  if (type === 'array') return `list of ${typeOf(item)}`;
  if (type === 'tuple') return 'two numbers';
  if (type === 'picklist') return options.map((option) => `\`${option}\``).join(', ');
  if (type === 'literal') return `\`${literal}\``;
  if (type === 'union') return [...new Set(options.map(typeOf))].join(' or ');
  if (type === 'strict_object') return 'fields';
  if (type === 'record') return `${typeOf(schema.value)} by name`;
  if (!Object.hasOwn(simple, type)) throw new Error(`docs/details.md has no words for ${type}.`);
  return simple[type];
}

/** The fields of an object, or of the rows of a table; a union has those of all its rows. */
function fieldsIn(schema) {
  const { type, wrapped, item, options, entries } = schema;
  if (wrappers.includes(type)) return fieldsIn(wrapped);
  if (type === 'array') return fieldsIn(item);
  if (type === 'record') return fieldsIn(schema.value);
  if (type === 'strict_object')
    return new Map(Object.entries(entries).map(([key, field]) => [key, { field, always: field.type !== 'optional' }]));
  if (type !== 'union') return new Map();
  const all = options.map(fieldsIn).filter(({ size }) => size > 0);
  const keys = new Set(all.flatMap((fields) => [...fields.keys()]));
  return new Map(
    [...keys].map((key) => {
      const found = all.flatMap((fields) => fields.get(key) ?? []);
      return [
        key,
        { field: found[0].field, always: found.length === all.length && found.every(({ always }) => always) },
      ];
    }),
  );
}

const isTable = (schema) => schema.type === 'array' || (wrappers.includes(schema.type) && isTable(schema.wrapped));
const isByName = (schema) => schema.type === 'record' || (wrappers.includes(schema.type) && isByName(schema.wrapped));

const rowsOf = (fields, prefix = '') =>
  [...fields].flatMap(([key, { field, always }]) => {
    const path = `${prefix}${key}`;
    const inner = `${path}${isTable(field) ? '[]' : ''}${isByName(field) ? '.NAME' : ''}.`;
    return [[`\`${path}\`${always ? '' : ' *'}`, typeOf(field), aboutOf(field)], ...rowsOf(fieldsIn(field), inner)];
  });

export const fieldsTable = (entries) =>
  table(['Field', 'Type', 'What it is'], rowsOf(fieldsIn(v.strictObject(entries))));

export const detailsPage = `# Details of results

Generated from the schemas beside the metrics in \`lib/metrics\` by \`npm run docs\`. A result has its value, interval and statistics;
\`details\` has what else was measured, in fields of its own for each metric. TypeScript knows them from the metric's function, and
\`schema/*.schema.json\` has them for every id. Units are in brackets. Fields with a * are not in every result; a result without a
number may have any part of them, and older documents may have others.

## In every result

${fieldsTable(commonDetails.entries)}

${metrics
  .map(
    ({ id, name, functionName, details }) =>
      `## ${id} ${name}\n\nFrom \`${functionName}\`.\n\n${fieldsTable(details.entries)}`,
  )
  .join('\n\n')}
`;

/** One schema of an object with the fields of all of them. */
function joined(objects) {
  const properties = {};
  for (const [key, schema] of objects.flatMap((object) => Object.entries(object.properties))) {
    const known = properties[key]?.anyOf ?? [properties[key] ?? schema];
    const isNew = known.every((each) => JSON.stringify(each) !== JSON.stringify(schema));
    properties[key] = isNew ? { anyOf: [...known, schema] } : (properties[key] ?? schema);
  }
  return { type: 'object', properties };
}

/** Without what must be there: results without a number and older documents lack fields, or have others. */
const relaxed = (schema) =>
  JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === 'required' || (key === 'additionalProperties' && value === false)) return undefined;
    const areRows = value?.anyOf?.every(({ properties }) => properties !== undefined);
    if (!areRows) return value;
    const { anyOf, ...rest } = value;
    return { ...rest, ...joined(anyOf) };
  });

/** Adds the details of every metric to the JSON Schema of a document, whose results are `$defs.result`. */
export function withDetails({ $defs: { result, ...others }, ...document }, schemaOf) {
  const allOf = metrics.map(({ id }) => ({
    if: { properties: { id: { const: id } } },
    then: { properties: { details: { $ref: `#/$defs/${id}` } } },
  }));
  const schemas = metrics.map(({ id, details: { entries } }) => {
    const { $schema: _, ...schema } = relaxed(schemaOf(v.strictObject({ ...entries, ...commonDetails.entries })));
    return [id, schema];
  });
  return { ...document, $defs: { ...others, result: { ...result, allOf }, ...Object.fromEntries(schemas) } };
}

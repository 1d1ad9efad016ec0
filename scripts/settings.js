// The settings that users write, as JSON Schema, TypeScript, help and Markdown, from the schemas in lib (through dist).
import * as v from 'valibot';
import { format, resolveConfig } from 'prettier';
import {
  bare,
  kinds,
  loadSettings,
  metricSettings,
  metricThresholds,
  priceSettings,
  tenantSettings,
  thresholdSettings,
  verifySchema,
  workloadSettings,
} from '../dist/all-settings.js';
import { generated } from './generated.js';
import { table } from './markdown.js';

const metadata = (schema) => v.getMetadata(bare(schema));
/** `hami-core` becomes `HamiCore`. */
const pascal = (name) => name.replace(/(^|-)(.)/g, (_, __, letter) => letter.toUpperCase());

/** Schemas with a name of their own, with what it says. */
const named = new Map([
  [verifySchema, ['ProofStep', 'A proof that the layer is active. If one fails, there are no numbers.']],
  [priceSettings, ['PriceSettings', 'Prices of GPU hours.']],
  [loadSettings, ['LoadSettings', 'Requests to a server.']],
  [metricSettings, ['ExtractedMetricSettings', 'A metric of what a run prints or writes.']],
  [
    tenantSettings,
    ['TenantSettings', 'A program, or a built-in aggressor, that shares the GPU with the others of its scene.'],
  ],
  [workloadSettings, ['WorkloadSettings', 'A program to measure, or with tenants a scene.']],
  [metricThresholds, ['MetricThresholdSettings', 'Thresholds of metrics.']],
]);

/** JSON Schema (draft 07) of what a user may write; named schemas are references. */
function jsonOf(schema, asReference = true) {
  const inner = bare(schema);
  const name = nameOf(inner);
  const description = v.getDescription(inner);
  const text = {
    ...(description !== undefined && { description }),
    ...(defaultOf(schema) !== undefined && { default: defaultOf(schema) }),
  };
  if (asReference && name) return { ...text, allOf: [{ $ref: `#/definitions/${name}` }] };
  const { json, later, laterEach, values, either } = metadata(inner);
  if (later) return { ...text, ...jsonOf(later) };
  // YAML gives null for a key without a value.
  if (laterEach)
    return { ...text, type: 'object', additionalProperties: { anyOf: [jsonOf(laterEach), { type: 'null' }] } };
  if (values) return { ...text, type: 'object', additionalProperties: jsonOf(values) };
  if (either) return { ...text, anyOf: either.map((each) => jsonOf(each)) };
  if (inner.type === 'strict_object') return { ...objectOf(inner), ...text };
  if (inner.type === 'array') return { ...text, type: 'array', items: jsonOf(inner.item) };
  return { ...text, ...json };
}

/** A description makes another schema of one. */
function nameOf(schema) {
  for (let each = schema; each; each = each.pipe?.[0] === each ? null : each.pipe?.[0])
    if (named.has(each)) return named.get(each)[0];
  return null;
}

const isNeeded = (schema) => schema.type !== 'optional';

/** Undefined without one, and for a map, whose settings have their own. */
const defaultOf = (schema) => (typeof schema.default === 'object' ? undefined : schema.default);

function objectOf(schema) {
  const { entries } = schema;
  const forms = metadata(schema).forms ?? [];
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(entries).map(([key, each]) => [key, jsonOf(each)])),
    required: Object.keys(entries).filter((key) => isNeeded(entries[key])),
    additionalProperties: false,
    ...(forms.length > 0 && { allOf: forms.map((each) => ({ anyOf: each.map(formOf) })) }),
  };
}

const formOf = ({ with: required, without, where = {} }) => ({
  required,
  properties: {
    ...Object.fromEntries(without.map((key) => [key, false])),
    ...Object.fromEntries(Object.entries(where).map(([key, values]) => [key, { enum: values }])),
  },
});

const definition = (schema, [, description]) => ({ description, ...jsonOf(schema, false) });

/** A system of the file, with its kind. */
function systemOf(kind, { about, settings }) {
  const { properties, required, ...rest } = jsonOf(settings, false);
  return {
    description: about,
    ...rest,
    properties: { kind: { const: kind }, ...properties },
    required: ['kind', ...required],
  };
}

/** In a workload a number may be a text that holds a parameter of the matrix. */
const withParameters = (json) =>
  Array.isArray(json)
    ? json.map(withParameters)
    : typeof json !== 'object' || json === null
      ? json
      : json.type === 'integer' || json.type === 'number' || json.type === 'boolean' || json.enum
        ? {
            ...(json.description && { description: json.description }),
            anyOf: [json, { type: 'string', pattern: '\\{' }],
          }
        : Object.fromEntries(
            Object.entries(json).map(([key, each]) => [key, key === 'allOf' ? each : withParameters(each)]),
          );

const inWorkloads = ['WorkloadSettings', 'TenantSettings', 'LoadSettings', 'ExtractedMetricSettings'];
const definitions = Object.fromEntries(
  [...named].map(([schema, text]) => {
    const json = definition(schema, text);
    return [text[0], inWorkloads.includes(text[0]) ? withParameters(json) : json];
  }),
);
const only = (...names) => ({ definitions: Object.fromEntries(names.map((name) => [name, definitions[name]])) });
const reference = (name) => ({ $ref: `#/definitions/${name}` });

/** The files that users write, for editors. */
export const files = {
  config: {
    description: 'A file for compare --config and exec --config.',
    type: 'object',
    properties: {
      systems: {
        description: 'The systems to compare; the first is the baseline.',
        type: 'array',
        minItems: 1,
        items: {
          anyOf: [
            { description: 'As on the command line: native, mps:sm=50.', type: 'string' },
            ...Object.entries(kinds).map(([kind, each]) => systemOf(kind, each)),
          ],
        },
      },
      workloads: {
        description: 'The programs that exec measures.',
        type: 'array',
        minItems: 1,
        items: reference('WorkloadSettings'),
      },
      prices: reference('PriceSettings'),
    },
    additionalProperties: false,
    ...only('ProofStep', 'PriceSettings', ...inWorkloads),
  },
  thresholds: {
    description: 'A file of thresholds for gates.',
    ...jsonOf(thresholdSettings),
    ...only('MetricThresholdSettings'),
  },
};

const fromSettings = { source: 'the schemas of settings', command: 'npm run build:ts' };

// TypeScript

const comment = ({ description, default: value }) => {
  const text = [
    description,
    value !== undefined && `Default: ${typeof value === 'string' ? value : JSON.stringify(value)}.`,
  ]
    .filter(Boolean)
    .join(' ');
  return text === '' ? '' : `/** ${text} */\n`;
};
const quotedKey = (key) => (/^\w+$/.test(key) ? key : `'${key}'`);
const property = (key, type, isOptional, json = {}) =>
  `${comment(json)}${quotedKey(key)}${isOptional ? '?' : ''}: ${type};\n`;

function typeOf(json) {
  if (json.$ref) return json.$ref.replace(/.*\//, '');
  if (json.allOf?.length === 1 && json.allOf[0].$ref) return typeOf(json.allOf[0]);
  if (json.enum) return json.enum.map((each) => JSON.stringify(each)).join(' | ');
  if (json.const !== undefined) return JSON.stringify(json.const);
  if (json.anyOf) return json.anyOf.map(typeOf).join(' | ');
  if (Array.isArray(json.type)) return json.type.length === 3 ? 'SettingScalar' : json.type.join(' | ');
  if (json.type === 'array' && Array.isArray(json.items)) return `readonly [${json.items.map(typeOf).join(', ')}]`;
  if (json.type === 'array') return `readonly (${typeOf(json.items)})[]`;
  if (json.properties) return objectType(json);
  if (json.type === 'object') return `Readonly<Record<string, ${typeOf(json.additionalProperties)}>>`;
  return json.type === 'integer' ? 'number' : json.type;
}

function objectType({ properties, required = [], allOf = [], additionalProperties }) {
  const keysOf = ({ anyOf }) => [
    ...new Set(anyOf.flatMap((form) => [...form.required, ...Object.keys(form.properties)])),
  ];
  const body = (keys) =>
    `{\n${keys.map((key) => property(key, typeOf(properties[key]), !required.includes(key), properties[key])).join('')}}`;
  const rest = additionalProperties === false ? '' : ' & Readonly<Record<string, unknown>>';
  const forms = allOf.map(
    (each) => `(${each.anyOf.map((form) => formType(form, keysOf(each), properties)).join(' | ')})`,
  );
  const inForms = allOf.flatMap(keysOf);
  const common = Object.keys(properties).filter((key) => !inForms.includes(key));
  return [...(common.length > 0 || forms.length === 0 ? [body(common)] : []), ...forms].join(' & ') + rest;
}

const formType = (form, keys, properties) =>
  `{\n${keys
    .map((key) => {
      const narrow = form.properties[key];
      const json = properties[key];
      if (narrow === false) return property(key, 'never', true);
      return property(key, typeOf(narrow ?? json), !form.required.includes(key), json);
    })
    .join('')}}`;

const interfaceOf = (name, json) => {
  const isPlain = json.properties && !json.allOf;
  const type = typeOf(json);
  return `${comment(json)}export ${isPlain ? `interface ${name} ${type}` : `type ${name} = ${type};`}\n`;
};

async function types() {
  const systems = Object.entries(kinds).map(([kind, each]) => [`${pascal(kind)}Settings`, systemOf(kind, each)]);
  const text = `/** Settings as a program gives them. Generated from the schemas of settings by npm run build:ts. */

${systems.map(([name, json]) => interfaceOf(name, json)).join('\n')}
/** A system, by the keys of the YAML file of \`compare --config\`. */
export type SystemSettings = ${systems.map(([name]) => name).join(' | ')};

${[...named]
  .filter(([, [name]]) => name !== 'MetricThresholdSettings')
  .map(([schema, text]) => interfaceOf(text[0], definition(schema, text)))
  .join('\n')}
/** Text of a setting; YAML reads 4 and true as other types. */
export type SettingScalar = string | number | boolean;

/** An item of the fixed menu of aggressors. */
export type AggressorTask = NonNullable<TenantSettings['task']>;

/** A number may be a text that holds a parameter. */
type ParametersOf<Settings> = Settings extends unknown
  ? { [Key in keyof Settings]: number extends Settings[Key] ? Settings[Key] | string : Settings[Key] }
  : never;
`.replaceAll('load?: LoadSettings;', 'load?: ParametersOf<LoadSettings>;');
  const path = 'lib/settings-types.ts';
  const options = await resolveConfig(path);
  return generated(path, await format(text, { ...options, parser: 'typescript' }), fromSettings);
}

// Help

/** `hami-core:library=FILE,memory=SIZE`; settings that take more than a word are left to the docs. */
function usage(kind, { settings }) {
  const keys = Object.entries(settings.entries).map(([key, schema]) => {
    const { placeholder } = metadata(schema);
    const byDefault = defaultOf(schema) === undefined ? '' : ` (default ${defaultOf(schema)})`;
    return (key === 'name' && !isNeeded(schema)) || placeholder === undefined
      ? null
      : `${key}=${placeholder}${byDefault}`;
  });
  const shown = keys.filter((each) => each !== null);
  const isLong = keys.filter((each) => each === null).length > 1;
  return shown.length === 0 && !isLong ? kind : `${kind}:${[...shown, ...(isLong ? ['…'] : [])].join(',')}`;
}

function help() {
  const text = Object.entries(kinds)
    .map(([kind, each]) => usage(kind, each))
    .join(', ');
  return generated(
    'lib/cli/options/system-usage.ts',
    `/** The help of --system. Generated from the schemas of settings by npm run build:ts. */\n\nexport const SYSTEM_USAGE =\n  '${text}; each takes name=NAME; repeatable; the first is the baseline';\n`,
    fromSettings,
  );
}

// Tables

function rowsOf(schema, before = '') {
  return Object.entries(schema.entries).flatMap(([key, each]) => {
    const inner = bare(each);
    const description = v.getDescription(inner) ?? '';
    const choices = metadata(inner).json?.enum;
    const [, meaning, given] = /^(.*?)(?: Default: (.*?)\.)?$/s.exec(description);
    const byDefault =
      defaultOf(each) !== undefined ? `\`${defaultOf(each)}\`` : (given ?? (isNeeded(each) ? 'required' : 'none'));
    const said = choices ? `${meaning} ${choices.map((choice) => `\`${choice}\``).join(', ')}.` : meaning;
    const row = [`\`${before}${key}\``, byDefault, said];
    return inner.type === 'strict_object' && !nameOf(inner) ? [row, ...rowsOf(inner, `${before}${key}.`)] : [row];
  });
}

const schemas = new Map([
  ...Object.entries(kinds).map(([kind, { settings }]) => [kind, settings]),
  ['workload', workloadSettings],
  ['tenant', tenantSettings],
  ['metric', metricSettings],
  ['load', loadSettings],
  ['prices', priceSettings],
  ['thresholds', thresholdSettings],
  ['metric thresholds', metricThresholds],
  ['proof', verifySchema],
]);

/** Tables of pages (pages.js), as Markdown by name. */
export const settingsTables = [...schemas].map(([name, schema]) => [
  `settings of ${name}`,
  table(['key', 'default', 'meaning'], rowsOf(schema)),
]);

/** Writes the sources of lib/ that follow from settings; whether one changed. */
export async function writeSettings() {
  const changes = [await types(), help()];
  return changes.includes(true);
}

// Writes every part of a JSON Schema that occurs more than once under `$defs`, and references in its places.

/** A part whose text is shorter stays in its places, where it is easier to read. */
const LEAST_LENGTH = 80;

/** Keywords that hold schemas by name, and those that hold one or a list of them. */
const BY_NAME = ['properties', '$defs'];
const PARTS = [
  'items',
  'anyOf',
  'oneOf',
  'allOf',
  'if',
  'then',
  'else',
  'not',
  'additionalProperties',
  'propertyNames',
];

const changed = (parts, change) =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part, name)]));

/**
 * The schema with its parts changed; `name` is that of the field that it describes, and so of parts without one. What a
 * description describes is a part too.
 */
function withParts(schema, change, name) {
  if (typeof schema === 'boolean') return schema;
  const { description, ...described } = schema;
  if (description !== undefined) {
    const part = change(described, name);
    // Draft 07 ignores what is beside a reference.
    return { ...(part.$ref === undefined ? part : { allOf: [part] }), description };
  }
  return changed(schema, (value, keyword) => {
    if (BY_NAME.includes(keyword)) return changed(value, change);
    if (!PARTS.includes(keyword)) return value;
    return Array.isArray(value) ? value.map((part) => change(part, name)) : change(value, name);
  });
}

/** Every different part, with the number of different places that have it: a place within a repeated part is one. */
function partsOf(document) {
  const found = new Map();
  const note = (part, name) => {
    const text = JSON.stringify(part);
    const known = found.get(text);
    found.set(text, { part, name: known?.name ?? name, places: (known?.places ?? 0) + 1 });
    return known ? part : withParts(part, note, name);
  };
  withParts(document, note, 'document');
  return found;
}

/** `ci95`, or `ci95-2` if there is one already. */
function freeName(name, taken) {
  const isFree = (each) => !Object.hasOwn(taken, each);
  for (let number = 2, own = name; ; own = `${name}-${number++}`) if (isFree(own)) return own;
}

/** Validates the same documents. A part has the name of the field that it describes. */
export function withSharedParts({ $defs: given = {}, ...document }) {
  const names = new Map();
  const $defs = { ...given };
  for (const [name, part] of Object.entries(given)) {
    const text = JSON.stringify(part);
    if (!names.has(text)) names.set(text, name);
  }
  for (const [text, { part, name, places }] of partsOf({ ...document, $defs: given })) {
    if (places < 2 || text.length < LEAST_LENGTH || names.has(text)) continue;
    const own = freeName(name, $defs);
    names.set(text, own);
    $defs[own] = part;
  }
  const shared = (part) => {
    const name = names.get(JSON.stringify(part));
    return name === undefined ? withParts(part, shared) : { $ref: `#/$defs/${name}` };
  };
  const definition = (part, name) =>
    names.get(JSON.stringify(part)) === name ? withParts(part, shared) : shared(part);
  const written = withParts(document, shared);
  return names.size === 0 ? written : { ...written, $defs: changed($defs, definition) };
}

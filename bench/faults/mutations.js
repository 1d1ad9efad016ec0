// Broken inputs made of valid ones: of their bytes, and of the values of a document.
import { Buffer } from 'node:buffer';

const PIECES = [
  '1e999',
  '-1',
  '0',
  'null',
  'true',
  '1e-320',
  '-0',
  '9007199254740993',
  '"NaN"',
  'NaN',
  '""',
  '[]',
  '{}',
  '~',
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  ': ',
  '- ',
  '? ',
  '"',
  "'",
  '\\',
  '\\u0000',
  '\\ud800',
  '\0',
  '\n',
  '\r',
  '\t',

  '\uFEFF',
  '#',
  '|\n',
  '>-\n',
  '!!binary aGk=',
  '!!set {a}',
  '&a ',
  '*a',
  '<<: *a',
  '%TAG ! x\n',
  '---\n',
  '...\n',
  '"__proto__":{"a":1},',
  '__proto__: { a: b }\n',
  '"constructor":1,',
  'constructor: x\n',
  'toString: 1\n',

  '"schemaVersion":99,',
  '"kind":"comparison",',
  '"status":"ok",',
  '[[[[[[[[[[',
  '- - - - - - ',
  '\u202e',
  '\u001b[31m',
];
const VALUES = [
  null,
  true,
  false,
  0,
  -1,
  -0,
  0.1,
  1e300,
  5e-324,
  2 ** 53,
  -(2 ** 31),
  '',
  ' ',
  'x',
  'NaN',
  '-1',
  '1e999',
  '\0',

  '__proto__',
  'constructor',
  '../../etc/passwd',
  '\ud800',
  '\u001b[2J',
  '<script>alert(1)</script>',
  'a'.repeat(5_000),
  [],
  {},
  [null],
  [[[]]],
  { __proto__: null, a: 1 },
  '2026-13-45T99:99:99Z',
  '💥',
  'x\ny',
];

const deep = (levels) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Changes of bytes: invalid UTF-8, truncation, repetition, foreign pieces. */
export function brokenBytes(content, choices) {
  let bytes = Buffer.from(content);
  for (let times = 1 + choices.below(5); times > 0; times--) {
    const at = choices.below(bytes.length + 1);
    const end = Math.min(bytes.length, at + choices.below(40));
    const [before, part, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
    const made = choices.oneOf([
      () => before,
      () => Buffer.concat([before, after]),
      () => Buffer.concat([before, Buffer.from(choices.oneOf(PIECES).repeat(1 + choices.below(3))), part, after]),
      () => Buffer.concat([before, Buffer.from(choices.oneOf(PIECES)), after]),
      () => Buffer.concat([before, ...Array.from({ length: choices.below(50) }, () => part), after]),
      () => Buffer.concat([before, Buffer.from(part.map((byte) => byte ^ (1 << choices.below(8)))), after]),
      () => Buffer.concat([before, Buffer.from(deep(choices.oneOf([10, 1_000, 100_000]))), after]),
      () => Buffer.concat([before, Buffer.from(Array.from({ length: 8 }, () => choices.below(256))), after]),
    ]);
    bytes = made();
  }
  return bytes;
}

/** Every place of a value that is not the whole. */
function placesOf(value, found = []) {
  if (value === null || typeof value !== 'object') return found;
  for (const key of Object.keys(value)) {
    found.push([value, key]);
    placesOf(value[key], found);
  }
  return found;
}

const copyOf = (value) => JSON.parse(JSON.stringify(value ?? null));

/** Removes it. */
const without = (holder, key) =>
  Array.isArray(holder) ? holder.splice(Number(key), 1) : Reflect.deleteProperty(holder, key);

/** Changes of values: still JSON, and often still a document. */
export function brokenValues(text, choices) {
  const document = JSON.parse(text);
  const places = placesOf(document);
  for (const [holder, key] of choices.some(places, 4)) {
    const other = choices.oneOf(places);
    choices.oneOf([
      () => (holder[key] = choices.oneOf(VALUES)),
      () => (holder[key] = choices.oneOf(VALUES)),
      () => without(holder, key),
      // What is beside it, so that no value holds itself.
      () => (holder[key] = copyOf(other[0][other[1]])),
      () => (Array.isArray(holder) ? holder.push(holder[key]) : (holder[`${key}2`] = holder[key])),
      () => (holder[key] = [holder[key]]),
      () => (holder[key] = typeof holder[key] === 'number' ? -holder[key] : String(holder[key])),
    ])();
  }
  return Buffer.from(JSON.stringify(document));
}

export const brokenDocument = (text, choices) =>
  choices.chance(0.6) ? brokenValues(text, choices) : brokenBytes(text, choices);

/** Values of options and variables that nobody should give. */
export const ODD_TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  '-0',
  '1e300',
  '1e-300',
  'NaN',
  'Infinity',
  '0x10',
  '1_000',
  '१',
  '99999999999999999999',
  '1.5',

  'x',
  '*',
  '?',
  '[',
  '**',
  '-',
  '--',
  '-x',
  '/',
  '.',
  '..',
  '/dev/null',
  '/dev/full',
  '/nonexistent/x',
  '/proc/self/mem',

  '__proto__',
  'constructor',
  'toString',
  'a=b',
  '=',
  ',',
  ':',
  ',,,',
  'a=',
  '=b',
  'null',
  'true',
  '\u001b[31m',
  'ü💥',

  'a'.repeat(300),
  '1s',
  '1h',
  '-1s',
  '1ms',
  '100%',
  '5%',
  '-5%',
  '10GiB',
  '1e9GiB',
  'native',
  'native:',
  'native:name=',

  'native:name=a',
  'mps',
  'mps:sm=0',
  'mps:sm=101',
  'custom',
  'custom:name=x,env.A=b',
  'hami-core',
  'hami-core:library=/x',

  'container',
  'container:image=',
  'fcsp:library=/dev/zero',
  'vgpu-manager:cores=50',
  'json',
  'html',
  'quick',
  'serving',

  'OH-001',
  'OH-*',
  'all',
  'overhead',
  'ZZ-1',
  'GPU-',
  'T2',
  'layers=1,hidden=64,heads=1',
  'layers=',
  'eager',
  'dlsym',
];

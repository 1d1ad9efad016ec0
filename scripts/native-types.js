// Writes lib/native/addon-types.ts from an addon's description of its functions and of the fields of their requests and
// results (native/addon), or with --check compares it. Users' addon has no description, so one that has is built first.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { generated } from './generated.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = 'lib/native/addon-types.ts';
const addon = `${root}build/Release/description.so`;

const comment = (text) => (text ? `/** ${text} */\n` : '');
const field = ({ name, type, doc, optional }) => `${comment(doc)}${name}${optional ? '?' : ''}: ${type};\n`;

function declaration({ name, doc, base, text, fields }) {
  if (text) return `${comment(doc)}export type ${name} = ${text};\n`;
  return `${comment(doc)}export interface ${name}${base ? ` extends ${base}` : ''} {\n${fields.map(field).join('')}}\n`;
}

const method = ({ name, signature, doc }) => `${comment(doc)}${name}${signature};\n`;

const build = spawnSync(process.execPath, [`${root}scripts/build-native.js`, '--description'], { stdio: 'inherit' });
if (build.status !== 0) {
  console.error(`${target} is made from the native addon, which could not be built.`);
  process.exitCode = 1;
} else {
  const described = { exports: {} };
  process.dlopen(described, addon);
  const topics = described.exports.description();
  const types = topics.flatMap(({ heading, types }) =>
    types.length > 0 ? [`// ${heading}\n\n${types.map(declaration).join('\n')}`] : [],
  );
  const text = `/**
 * The one typed description of the native surface. Generated from native/addon by npm run native-types.
 * Times are nanoseconds; arrays of samples are Float64Array. Every promise may reject with an object that
 * lib/native/errors.ts turns into the public error classes; a request of another shape is a TypeError.
 */

${types.join('\n')}
export interface NativeAddon {
${topics.map(({ functions }) => functions.map(method).join('')).join('')}}
`;
  const options = await resolveConfig(`${root}${target}`);
  generated(target, await format(text, { ...options, parser: 'typescript' }), {
    source: 'the fields in native/addon',
    command: 'npm run native-types',
  });
}

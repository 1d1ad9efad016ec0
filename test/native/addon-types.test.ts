/** Compares the addon's functions, and the requests that they refuse, with their types in lib/. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { loadAddon } from '../../lib/native/load.js';

const path = fileURLToPath(new URL('../../lib/native/addon-types.ts', import.meta.url));
const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
const addon = loadAddon();

const interfaces = new Map<string, ts.InterfaceDeclaration>();
const texts = new Map<string, string>();
for (const statement of source.statements) {
  if (ts.isInterfaceDeclaration(statement)) interfaces.set(statement.name.text, statement);
  if (ts.isTypeAliasDeclaration(statement)) texts.set(statement.name.text, statement.type.getText());
}
const functions = interfaces.get('NativeAddon')?.members.filter(ts.isMethodSignature) ?? [];

it('every function is typed once, and every typed function exists', () => {
  expect(functions.map(({ name }) => name.getText()).sort()).toEqual(Object.keys(addon).sort());
});

const fieldsOf = (type: ts.InterfaceDeclaration): { name: string; type: string }[] => [
  ...(type.heritageClauses ?? []).flatMap(({ types }) =>
    types.flatMap((base) => fieldsOf(interfaces.get(base.getText()) as ts.InterfaceDeclaration)),
  ),
  ...type.members
    .filter(ts.isPropertySignature)
    .map((member) => ({ name: member.name.getText(), type: member.type?.getText() ?? '' })),
];

/** A valid value for a field of this type. */
function example(text: string): unknown {
  const type = texts.get(text) ?? text;
  if (type.includes('null')) return null;
  const [choice] = type.match(/(?<=')[^']+/) ?? [];
  return choice ?? { number: 1, boolean: true, string: 'x', 'number[]': [1], 'string[]': ['x'] }[type];
}

const requests = functions.flatMap(({ name, parameters }) => {
  const given = parameters.find((parameter) => ['request', 'target'].includes(parameter.name.getText()));
  const type = interfaces.get(given?.type?.getText() ?? '');
  return type ? [{ name: name.getText(), inSession: parameters.length === 2, fields: fieldsOf(type) }] : [];
});
const call = (name: string, inSession: boolean, request: unknown): unknown =>
  (addon as unknown as Record<string, (...values: unknown[]) => unknown>)[name]?.(
    ...(inSession ? [1, request] : [request]),
  );

describe.each(requests)('$name', ({ name, inSession, fields }) => {
  const valid = Object.fromEntries(fields.map((field) => [field.name, example(field.type)]));

  it.each(fields.map((field) => [field.name, field.type]))('refuses a request whose %s is not a %s', (field) => {
    for (const wrong of [Symbol('wrong'), { wrong: true }, undefined])
      expect(() => call(name, inSession, { ...valid, [field]: wrong })).toThrow(
        expect.objectContaining({ name: 'TypeError', message: expect.stringMatching(`for ${field}\\.$`) as string }),
      );
  });

  it.runIf('startAtNs' in valid)('refuses a start that is no time of the clock', () => {
    for (const beyond of [2 ** 63, -(2 ** 63), 2 ** 53, 1e300])
      expect(() => call(name, inSession, { ...valid, startAtNs: beyond })).toThrow(
        /^Expected a number from -.* for startAtNs\.$/,
      );
  });

  it('refuses anything but an object', () => {
    for (const wrong of [undefined, null, 1, 'x'])
      expect(() => call(name, inSession, wrong)).toThrow('Expected a request object.');
  });

  if (inSession)
    it('accepts a complete request, and then looks for the session', async () => {
      await expect(call(name, inSession, valid)).rejects.toMatchObject({ kind: 'aborted' });
    });

  it.each(fields.filter(({ type }) => type === 'number').map((field) => field.name))(
    'accepts any number for %s',
    (field) => {
      for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, '1', null])
        expect(() => call(name, inSession, { ...valid, [field]: wrong })).toThrow(TypeError);
    },
  );
});

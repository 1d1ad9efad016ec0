/** Compares the addon's functions with their types in lib/. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { DescribedField, DescribedType } from '../../lib/native/addon-types.js';
import { loadAddon } from '../../lib/native/load.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const addon = loadAddon();
const topics = addon.description();
const types = new Map(topics.flatMap((topic) => topic.types).map((type) => [type.name, type]));

it("addon-types.ts matches the built addon's description", () => {
  execFileSync(process.execPath, ['scripts/native-types.js', '--check'], { cwd: root });
});

it('every function is described once, and every described function exists', () => {
  const names = topics.flatMap(({ functions }) => functions.map(({ name }) => name));
  expect([...names].sort()).toEqual(Object.keys(addon).sort());
});

const fieldsOf = (type: DescribedType): DescribedField[] => [
  ...(type.base ? fieldsOf(types.get(type.base) as DescribedType) : []),
  ...type.fields,
];

/** A valid value for a field of this type. */
function example(text: string): unknown {
  const type = types.get(text)?.text ?? text;
  if (type.includes('null')) return null;
  const [choice] = type.match(/(?<=')[^']+/) ?? [];
  return choice ?? { number: 1, boolean: true, string: 'x', 'number[]': [1], 'string[]': ['x'] }[type];
}

const requests = topics.flatMap(({ functions }) =>
  functions.flatMap(({ name, signature }) => {
    const type = types.get(signature.match(/(?:request|target): (\w+)/)?.[1] ?? '');
    const inSession = signature.startsWith('(session: number');
    return type ? [{ name, inSession, fields: fieldsOf(type) }] : [];
  }),
);
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

/** Seeded changes of saved documents and call profiles: they are read and reported, or refused with their file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../lib/errors/usage-error.js';
import { renderReport } from '../../lib/rendering.js';
import { readProfile } from '../../lib/results/read-profile.js';
import { readDocument } from '../../lib/saved/read.js';
import { temporaryFolder } from '../temporary.js';
import { changedText, seeded } from './fuzz.js';
import { callProfile, phase } from './profile-fixtures.js';
import { everyKind } from './report/fixtures.js';
import { runDocument } from './run/fixtures.js';

const pieces = [
  ...['1e999', '-1', '0', 'null', 'true', '1e-320', '-0', '9007199254740993', '"NaN"', '""', '[]', '{}'],
  ...['[', ']', '{', '}', ',', ':', '"', '\\', '\\u0000', '\\ud800', '\0', '\n', '\uFEFF', '[[[[[[[['],
  ...['"__proto__":{"a":1},', '"constructor":1,', '"schemaVersion":1,', '"kind":"comparison",', '"status":"ok",'],
];

/** A value somewhere in a document, replaced by another: what is still JSON, and often still a document. */
const values = (text: string): fc.Arbitrary<string> => {
  const found = [...text.matchAll(/(?<=:)(?:-?\d[\d.e+-]*|"[^"]*"|null|true|false|\[\])/g)];
  const change = fc.tuple(fc.nat(found.length - 1), fc.constantFrom('1e300', '-1', '0', 'null', '"x"', '[]', '5e-324'));
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) =>
    changes
      .sort(([a], [b]) => b - a)
      .reduce((now, [index, value]) => {
        const { 0: old, index: at } = found[index] as RegExpExecArray;
        return now.slice(0, at) + value + now.slice(at + old.length);
      }, text),
  );
};

const file = join(temporaryFolder('fuzz'), 'document.json');

/** How often `read` took a text; whatever else it throws than a refusal of the file fails the test. */
async function accepted(texts: fc.Arbitrary<string>, runs: number, read: () => Promise<unknown>): Promise<number> {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      writeFileSync(file, text);
      const error: unknown = await read().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (error === null) return void count++;
      expect(error).toBeInstanceOf(UsageError);
      expect((error as Error).message).toMatch(/^Expected a (result document|call profile) but received '.*': /);
    }),
    seeded(runs),
  );
  return count;
}

const documents = [everyKind(), runDocument()].map((each) => JSON.stringify(each));
const profile = JSON.stringify(callProfile(phase({ cuLaunchKernel: 5, cuMemAlloc_v2: 2 })));

describe('a changed document', () => {
  const reported = async () => renderReport((await readDocument(file)).document, 'markdown');

  it('is refused with its file where it is broken', async () => {
    expect(await accepted(changedText(documents, pieces), 300, reported)).toBeLessThan(150);
  });

  it.each(documents.map((text) => [(JSON.parse(text) as { kind: string }).kind, text]))(
    'is reported, or refused, where values of a %s are others',
    async (_, text) => {
      expect(await accepted(values(text as string), 300, reported)).toBeGreaterThan(10);
    },
  );
});

describe('a changed call profile', () => {
  it('is read, or refused with its file', async () => {
    const texts = fc.oneof(changedText([profile], pieces), values(profile));
    const count = await accepted(texts, 500, () => readProfile(file));
    expect(count).toBeGreaterThan(5);
    expect(count).toBeLessThan(450);
  });
});

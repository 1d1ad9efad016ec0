import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../lib/errors/usage-error.js';
import {
  baselineFile,
  baselineNames,
  baselineText,
  notABaseline,
  readBaseline,
} from '../../../lib/saved/baseline-store.js';
import { gatePart } from '../../../lib/saved/gate-part.js';
import { about, comparison, without } from '../gate/fixtures.js';
import { runDocument } from '../run/fixtures.js';
import { temporaryFolder } from '../systems/fixtures.js';

const values = { native: { 'OH-001': about(5) }, layer: { 'OH-001': about(6) } };
const saved = (document: ReturnType<typeof comparison>, problems: string[] = []) => ({ document, problems });

describe('the name of a baseline', () => {
  it.each(['main', 'v1.2.3', 'release_2026-11', 'A', '0', 'x'.repeat(100)])('may be %s', (name) =>
    expect(baselineFile('baselines', name)).toBe(join('baselines', `${name}.json`)),
  );

  it.each(['', '.', '..', '.hidden', '../x', 'a/b', 'a\\b', '-rf', 'a b', 'a\0', 'ä', 'a\n', 'x'.repeat(101), '%2e'])(
    'may not be %j',
    (name) => expect(() => baselineFile('baselines', name)).toThrow(/^Expected the name of a baseline to be/),
  );

  it('never leads outside the store', () =>
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('.', '/', '\\', 'a', '-') })),
        (name) => {
          try {
            const file = baselineFile('/store', name);
            expect([dirname(file), basename(file)]).toEqual(['/store', `${name}.json`]);
            expect(name).toMatch(/^\w[\w.-]*$/);
          } catch (error) {
            expect(error).toBeInstanceOf(UsageError);
          }
        },
      ),
      { numRuns: 500 },
    ));
});

describe('a store', () => {
  it('is empty if its folder is missing', async () => {
    const store = join(temporaryFolder(), 'nowhere');
    expect(await baselineNames(store)).toEqual([]);
    await expect(readBaseline(store, 'main')).rejects.toThrow(
      /received 'main': there is none; create one with baseline save\.$/,
    );
  });

  it('is refused if it is a file', async () => {
    const store = join(temporaryFolder(), 'file');
    writeFileSync(store, '');
    await expect(baselineNames(store)).rejects.toThrow(/^Expected --store to be a directory of baselines/);
  });

  it('returns the part of a document that gates read', async () => {
    const store = temporaryFolder();
    const document = comparison(values);
    for (const round of document.systems.flat()) for (const result of round.metrics) result.samples = [1, 2, 3];
    writeFileSync(join(store, 'main.json'), baselineText(document));
    writeFileSync(join(store, '.hidden.json'), '{}');
    writeFileSync(join(store, 'notes.txt'), '');
    expect(await baselineNames(store)).toEqual(['main']);
    const { name, document: read } = await readBaseline(store, 'main');
    expect(name).toBe('main');
    expect(read).toEqual(gatePart(comparison(values)));
    expect(read.plan).toEqual(document.plan);
    await expect(readBaseline(store, 'mian')).rejects.toThrow(/received 'mian': there is main\.$/);
    await expect(readBaseline(store, 'maim')).rejects.toThrow(/received 'maim': did you mean main\?$/);
  });

  it.each([
    ['half a document', '{"kind": "comp', /it is not complete JSON; it may have been cut off\.$/],
    ['another document', '{"kind": "gate", "schemaVersion": 1}', /its kind is 'gate' and not run or comparison\.$/],
    ['a newer document', '{"kind": "run", "schemaVersion": 9}', /schema version 9 and this gpu-virt-bench reads 3/],
    ['no object', '[]', /it has no schemaVersion and kind/],
    ['a hollow document', '{"kind": "run", "schemaVersion": 1}', /at tool: /],
  ])('refuses %s', async (_, text, says) => {
    const store = temporaryFolder();
    mkdirSync(store, { recursive: true });
    writeFileSync(join(store, 'main.json'), text);
    await expect(readBaseline(store, 'main')).rejects.toThrow(says);
    await expect(readBaseline(store, 'main')).rejects.toBeInstanceOf(UsageError);
  });
});

describe('a document that is not a baseline', () => {
  it.each([
    ['an interrupted one', comparison(values, { document: { completed: false } }), /it was interrupted/],
    ['one without values', comparison({ a: { 'OH-001': [without('unsupported', 'x')] } }), /it contains no value/],
    [
      'one whose layer was not active',
      comparison({ ...values, layer: { 'OH-001': [without('invalid', 'layer not active: nothing hooks')] } }),
      /^layer was not shown to be active$/,
    ],
    [
      'one with a proof that failed',
      comparison(values, {
        round: {
          system: { name: 'a', kind: 'k', settings: {}, attestation: [{ proof: 'p', passed: false, detail: '' }] },
        },
      }),
      /^a was not shown to be active$/,
    ],
  ])('%s', (_, document, why) => expect(notABaseline(saved(document))).toMatch(why));

  it('has problems', () => expect(notABaseline(saved(comparison(values), ['x', 'y']))).toBe('it is damaged: x; y'));

  it('is neither a complete one, nor one with a failed metric', () => {
    expect(notABaseline(saved(comparison(values)))).toBeNull();
    const failed = { ...values, layer: { 'OH-001': [...about(5).slice(1), without('failed', 'x')] } };
    expect(notABaseline(saved(comparison(failed)))).toBeNull();
    expect(notABaseline({ document: runDocument(), problems: [] })).toBe('it contains no value');
  });
});

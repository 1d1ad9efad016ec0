/** Seeded changes of what programs print: a finite number is found in it, or a reason why there is none. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Extracted, extract } from '../../lib/workloads/metrics/extract.js';
import { Captured } from '../../lib/workloads/program/output.js';
import { choices, type ExtractedMetric, type Extraction } from '../../lib/workloads/workload-type.js';
import { temporaryFolder } from '../temporary.js';
import { changedText, seeded } from './fuzz.js';

const outputs = [
  'step 1 took 4.25 s\nstep 2 took 1e-3 s\r\n',
  '{"steps": [{"loss": 0.5}], "result": {"rate": 1250.5, "unit": "tokens/s"}}\n',
  '[rank0]: {"loss": 2.5}\n{"loss": 2.25, "note": "[a, b]"}\n 50 %|████    | 5/10\r{"loss": 2}\n',
  'début ✓ {"loss": 1}\nwarning: [0.5, 1]\n[1, 2, {"loss": 3}]\n',
];
const pieces = [
  ...['NaN', 'Infinity', '-inf', 'nan', 'null', '1e999', '-0', '1e-400', '0x10', '१', '1_000', '123456789123456789123'],
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
    ',',
    ':',
    '{"loss": ',
    '{"loss":1}',
    '{"loss": "1"}',
    '{"__proto__": {"loss": 1}}',
  ],
  ...['\n', '\r', '\r\n', '\0', '\uFEFF', '\u001b[31m', '\ud83d', '\u2028', '[[[[[[[[[', ' '.repeat(300), 'took', ' s'],
];

const metric = (pick: Extraction, take: ExtractedMetric['take'], from: ExtractedMetric['from']): ExtractedMetric => ({
  ...{ key: 'm', from, pick, take },
  ...{ unit: 's', direction: 'lower', delta: { relative: 0.02 } },
});

/** Printed in pieces of `length` bytes. */
async function captured(text: string, length: number): Promise<Captured> {
  const stream = new PassThrough();
  const all = new Captured(stream, null);
  const ended = new Promise((resolve) => stream.once('end', resolve));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += length) stream.write(bytes.subarray(at, at + length));
  stream.end();
  await ended;
  return all;
}

const folder = temporaryFolder('fuzz');
const signal = new AbortController().signal;

async function found(of: ExtractedMetric, text: string, length: number): Promise<Extracted> {
  const [stdout, stderr] = await Promise.all([captured(text, length), captured('', 1)]);
  return extract(of, { stdout, stderr, cwd: folder, before: new Map(), signal });
}

function expectNumberOrReason(result: Extracted): boolean {
  if ('missing' in result) {
    expect(result.missing).not.toBe('');
    expect(result.missing.length).toBeLessThan(600);
    return false;
  }
  expect(result.value).toSatisfy(Number.isFinite);
  expect(result.numbers).toBeGreaterThan(0);
  return true;
}

const picks: [name: string, pick: Extraction, runs: number][] = [
  ['lines of JSON', { by: 'jsonl', pointer: '/loss' }, 800],
  ['one JSON text', { by: 'json', pointer: '/result/rate' }, 800],
  // Each starts a thread.
  ['a pattern', { by: 'regex', pattern: /took (\S+) s/gm }, 40],
];

describe.each(picks)('a changed output, read by %s', (_, pick, runs) => {
  const texts = changedText(outputs, pieces);

  it('has a finite number or a reason, however it is printed', async () => {
    let numbers = 0;
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.constantFrom(...choices),
        fc.integer({ min: 1, max: 64 }),
        async (text, take, length) => {
          const result = await found(metric(pick, take, 'stdout'), text, length);
          if (expectNumberOrReason(result)) numbers++;
          expect(await found(metric(pick, take, 'stdout'), text, 1 << 20)).toEqual(result);
        },
      ),
      seeded(runs),
    );
    expect(numbers).toBeGreaterThan(3);
    expect(numbers).toBeLessThan(runs);
  });

  it('is the same from a file', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        writeFileSync(join(folder, 'out.txt'), text);
        const fromFile = await found(metric(pick, 'last', { file: 'out.txt' }), '', 1);
        expectNumberOrReason(fromFile);
        expect(fromFile).toEqual(await found(metric(pick, 'last', 'stdout'), text, 1 << 20));
      }),
      seeded(Math.ceil(runs / 4)),
    );
  });
});

import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Captured } from '../../../lib/workloads/program/output.js';

it('passes on lines that were printed before anyone listened', async () => {
  const stream = new PassThrough();
  const captured = new Captured(stream, null);
  stream.write('listening\nand ');
  await setImmediate();
  const lines: string[] = [];
  captured.onLine = (line) => lines.push(line);
  stream.end('more\n');
  await setImmediate();
  expect(lines).toEqual(['listening', 'and more']);
});

async function lastWordsOf(printed: string): Promise<string> {
  const stream = new PassThrough();
  const captured = new Captured(stream, null);
  stream.end(printed);
  await setImmediate();
  return captured.lastWords();
}

const ADVICE = [
  'Search for the code.',
  'Errors may be reported late.',
  'For debugging set a variable.',
  'Compile again.',
];

it.each([
  ['the last lines', ['a', 'b', 'c', 'd'], 'b | c | d'],
  ['an exception among them', ['a', 'KeyError: b', 'c'], 'a | KeyError: b | c'],
  [
    'an exception before the advice of a library',
    ['ValueError: first', 'torch.AcceleratorError: CUDA error: not permitted', ...ADVICE],
    'torch.AcceleratorError: CUDA error: not permitted | … | For debugging set a variable. | Compile again.',
  ],
])('ends a message with %s', async (_, lines, words) => expect(await lastWordsOf(lines.join('\n'))).toBe(words));

it('keeps its last words short', async () => {
  const words = await lastWordsOf([`Error: ${'x'.repeat(1_000)}`, ...ADVICE].join('\n'));
  expect(words.length).toBeLessThan(520);
  expect(words).toMatch(/^Error: x+ \| … \| .*Compile again\.$/);
});

import { describe, expect, it, vi } from 'vitest';
import { BenchError } from '../../../lib/errors/bench-error.js';
import { CudaError } from '../../../lib/native/errors.js';
import { BoundedLog, LineSplitter } from '../../../lib/workers/lines.js';
import { decode, encode, errorFromData, errorToData } from '../../../lib/workers/protocol.js';

describe('the line protocol', () => {
  it('begins and ends every message with a new line', () =>
    expect(encode({ gvb: 'result', id: 1, value: 'a\nb' })).toBe('\n{"gvb":"result","id":1,"value":"a\\nb"}\n'));

  it('sends samples as arrays, at any depth', () => {
    const value = { tookNs: Float64Array.of(1, 2.5), rows: [{ ns: Float64Array.of(3) }] };
    expect(decode(encode({ gvb: 'result', id: 1, value }).trim())).toMatchObject({
      value: { tookNs: [1, 2.5], rows: [{ ns: [3] }] },
    });
  });

  it.each(['', 'hello', '{"other":1}', '{"gvb":"result","id":'])('treats %j as noise', (line) =>
    expect(decode(line)).toBeNull(),
  );

  it.each([
    new BenchError('SIM_SETTINGS', 'unknown key'),
    new CudaError(700, 'CUDA_ERROR_ILLEGAL_ADDRESS', 'cuStreamSynchronize', 'waiting'),
    new CudaError(2, 'CUDA_ERROR_OUT_OF_MEMORY', 'cuMemAlloc_v2', 'allocating', false),
    new TypeError('type'),
    new RangeError('range'),
    new Error('plain'),
  ])('transfers %s', (error) => {
    const copy = errorFromData(JSON.parse(JSON.stringify(errorToData(error))));
    expect(copy.constructor).toBe(error.constructor);
    expect({ ...copy, message: copy.message }).toEqual({ ...error, message: error.message });
  });
});

describe('lines', () => {
  const split = (...chunks: Buffer[]) => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    for (const chunk of chunks) splitter.push(chunk);
    splitter.end();
    return lines;
  };

  it('are joined across chunks, even within a character', () => {
    const text = Buffer.from('erste\nzwölf\nEnde');
    for (let at = 0; at <= text.length; at++)
      expect(split(text.subarray(0, at), text.subarray(at))).toEqual(['erste', 'zwölf', 'Ende']);
  });

  it('have each character copied a few times at most, even in short lines', () => {
    const limit = 1_000;
    const pieces = 20_000;
    const slice = vi.spyOn(String.prototype, 'slice');
    const log = new BoundedLog(limit);
    for (let i = 0; i < pieces; i++) log.append('x\n');
    const copied = slice.mock.results.reduce((sum, { value }) => sum + (value as string).length, 0);
    slice.mockRestore();
    expect(copied).toBeLessThan(2 * 2 * pieces);
    expect(log.text).toBe('x\n'.repeat(limit / 2));
  });

  it('are kept from the end of a log', () => {
    const log = new BoundedLog(8);
    log.append('one\ntwo\n');
    log.append('three\n');
    expect(log.text).toBe('o\nthree\n');
    expect(log.lastLines(1)).toEqual(['three']);
  });
});

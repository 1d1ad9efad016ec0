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

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { csvFile, sinkOf } from '../../../lib/monitor/csv-file.js';
import { temporaryFolder } from '../../temporary.js';

const failing = (message: string, code = 'ENOSPC') => Object.assign(new Error(message), { code });

/** A file on a disk with limited space; a write that does not fit is partial. */
async function onDiskOf(room: number, path: string) {
  const file = await open(path, 'w');
  let left = room;
  const write = async (bytes: Buffer, from: number) => {
    if (left === 0) throw failing('no space');
    const part = Math.min(left, bytes.length - from);
    left -= part;
    return file.write(bytes, from, part);
  };
  return sinkOf(
    {
      write: write as typeof file.write,
      truncate: (size) => file.truncate(size),
      sync: () => file.sync(),
      close: () => file.close(),
    },
    true,
    (error) => new Error(`not written: ${(error as Error).message}`),
  );
}

describe('the file of a monitor', () => {
  it('replaces an existing file, and contains each line as soon as it is written', async () => {
    const path = join(temporaryFolder('csv'), 'x.csv');
    writeFileSync(path, 'something older and longer\n');
    const sink = await csvFile(path);
    await sink.write('a,b\r\n');
    expect(readFileSync(path, 'utf8')).toBe('a,b\r\n');
    await sink.write('1,2\r\n3,4\r\n');
    expect(readFileSync(path, 'utf8')).toBe('a,b\r\n1,2\r\n3,4\r\n');
    await sink.close();
  });

  it('ends in a complete line if the disk is full', async () => {
    const path = join(temporaryFolder('csv'), 'x.csv');
    const sink = await onDiskOf(12, path);
    await sink.write('a,b\r\n');
    await expect(sink.write('1,2\r\n3,4\r\n')).rejects.toThrow('not written: no space');
    await sink.close();
    expect(readFileSync(path, 'utf8')).toBe('a,b\r\n');
  });

  it('reports which file cannot be opened or written, and why', async () => {
    const folder = temporaryFolder('csv');
    await expect(csvFile(join(folder, 'none/x.csv'))).rejects.toThrow(
      `Could not write '${join(folder, 'none/x.csv')}': its directory does not exist.`,
    );
    const full = await csvFile('/dev/full');
    await expect(full.write('a\r\n')).rejects.toThrow("Could not write '/dev/full': no space is left on its disk.");
    await full.close();
    expect(statSync('/dev/full').isCharacterDevice()).toBe(true);
  });
});

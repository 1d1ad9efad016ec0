import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../lib/errors/usage-error.js';
import { resultDirectories, whyNoResult } from '../../../lib/saved/directories.js';
import { temporaryFolder } from '../systems/fixtures.js';

function finished(folder: string, name: string, at: number): void {
  mkdirSync(join(folder, name, 'raw'), { recursive: true });
  writeFileSync(join(folder, name, 'summary.json'), '');
  utimesSync(join(folder, name, 'summary.json'), at, at);
}

const names = async (folder: string) => (await resultDirectories(folder)).map(({ path }) => basename(path));

describe('directories of results', () => {
  it('are sorted by their summaries, newest first, then by name in reverse', async () => {
    const folder = temporaryFolder();
    finished(folder, 'c', 1);
    finished(folder, 'a', 3);
    finished(folder, 'b', 2);
    finished(folder, 'd', 2);
    expect(await names(folder)).toEqual(['a', 'd', 'b', 'c']);
    expect((await resultDirectories(folder)).map(({ modifiedMs }) => modifiedMs)).toEqual([3_000, 2_000, 2_000, 1_000]);
  });

  it('include one that was interrupted before its summary, at the time of its last round', async () => {
    const folder = temporaryFolder();
    finished(folder, 'old', 1);
    mkdirSync(join(folder, 'cut-off/raw'), { recursive: true });
    utimesSync(join(folder, 'cut-off/raw'), 2, 2);
    finished(folder, 'new', 3);
    expect(await names(folder)).toEqual(['new', 'cut-off', 'old']);
  });

  it('do not include files or other folders', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'empty'));
    mkdirSync(join(folder, 'odd/summary.json'), { recursive: true });
    mkdirSync(join(folder, 'other'));
    writeFileSync(join(folder, 'other/raw'), '');
    writeFileSync(join(folder, 'file'), '');
    expect(await names(folder)).toEqual([]);
    expect(await names(join(folder, 'nowhere'))).toEqual([]);
    await expect(names(join(folder, 'file'))).rejects.toThrow(UsageError);
  });
});

describe('a directory without a summary', () => {
  it('names the newest result in it', async () => {
    const folder = temporaryFolder();
    finished(folder, 'old', 1);
    finished(folder, 'new', 2);
    mkdirSync(join(folder, 'cut-off/raw'), { recursive: true });
    expect(await whyNoResult(folder)).toBe(
      `it has no summary.json: name one of the 2 results in it, such as ${join(folder, 'new')}, the newest`,
    );
  });

  it('names the only result in it', async () => {
    const folder = temporaryFolder();
    finished(folder, 'first', 1);
    expect(await whyNoResult(folder)).toBe(`it has no summary.json: name the result in it, ${join(folder, 'first')}`);
  });

  it('names the command that continues an interrupted comparison', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'raw'));
    expect(await whyNoResult(folder)).toBe(
      `it has no summary.json, because it was interrupted: continue it with --resume ${folder}`,
    );
  });

  it('names nothing if there is nothing in it', async () =>
    expect(await whyNoResult(temporaryFolder())).toBe('it has no summary.json'));
});

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkTarget, writeWhole, writeWithoutLinks } from '../../../lib/cli/files/output.js';
import { ownMark } from '../../../lib/environment/process-identity.js';
import { temporaryFolder } from '../../temporary.js';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const check = (name: string) => checkTarget(join(folder, name), '--json');

describe('checking a target before measuring', () => {
  it('accepts a new file and leaves nothing behind', async () => {
    await check('new.json');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('accepts an existing file and does not touch it', async () => {
    writeFileSync(join(folder, 'old.json'), 'old');
    await check('old.json');
    expect(readFileSync(join(folder, 'old.json'), 'utf8')).toBe('old');
  });

  it('accepts standard output', () => expect(checkTarget('-', '--json')).resolves.toBeUndefined());
  it('refuses a directory', () => expect(check('.')).rejects.toThrow(/^Expected --json to be .* it is a directory\.$/));
  it('refuses a name that ends in a slash', () => expect(check('new/')).rejects.toThrow(/it is a directory/));
  it('refuses a missing directory', () => expect(check('no/x.json')).rejects.toThrow(/its directory does not exist/));
  it('refuses no name at all', () => expect(checkTarget('', '--json')).rejects.toThrow(/received '': it is empty/));

  it('removes what a killed process wrote aside, and nothing of others', async () => {
    const [pid = '', startTime = '', place = ''] = ownMark().split('-');
    const aside = (...mark: string[]) => `.x.json.${mark.join('-')}.0123abcd.tmp`;
    const ended = [aside(pid, '1', place), aside('4194303', startTime, place)];
    const kept = [aside(pid, startTime, place), aside(pid, '1', 'abcdefabcdef'), '.x.json.1.tmp', 'x.tmp'];
    for (const name of [...ended, ...kept]) writeFileSync(join(folder, name), '');
    await check('new.json');
    expect(readdirSync(folder).sort()).toEqual(kept.sort());
  });

  it('refuses a file in place of the directory', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(check('file/x.json')).rejects.toThrow(/its directory is a file/);
  });
});

describe('writing complete files', () => {
  it('replaces a file and leaves no temporary one', async () => {
    writeFileSync(join(folder, 'x.json'), 'old');
    await writeWhole(join(folder, 'x.json'), 'new');
    expect(readFileSync(join(folder, 'x.json'), 'utf8')).toBe('new');
    expect(readdirSync(folder)).toEqual(['x.json']);
  });

  it('writes through a symbolic link and keeps the link', async () => {
    writeFileSync(join(folder, 'real.json'), 'old');
    symlinkSync('real.json', join(folder, 'link.json'));
    await writeWhole(join(folder, 'link.json'), 'new');
    expect(lstatSync(join(folder, 'link.json')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'real.json'), 'utf8')).toBe('new');
  });

  it('tolerates the temporary file of another process with the same PID', async () => {
    writeFileSync(join(folder, `.x.json.${process.pid}.tmp`), 'of another container');
    await check('x.json');
    await writeWhole(join(folder, 'x.json'), 'new');
    expect(readFileSync(join(folder, 'x.json'), 'utf8')).toBe('new');
    expect(readFileSync(join(folder, `.x.json.${process.pid}.tmp`), 'utf8')).toBe('of another container');
  });

  it('keeps one of two texts complete if two writers collide', async () => {
    const [a, b] = ['a'.repeat(300_000), 'b'.repeat(200_000)];
    await Promise.all([writeWhole(join(folder, 'x.json'), a), writeWhole(join(folder, 'x.json'), b)]);
    expect([a, b]).toContain(readFileSync(join(folder, 'x.json'), 'utf8'));
    expect(readdirSync(folder)).toEqual(['x.json']);
  });

  it.each(['real.json', 'not-there.json'])(
    'refuses a link to %s under a name that the user did not choose',
    async (to) => {
      writeFileSync(join(folder, 'real.json'), 'old');
      symlinkSync(to, join(folder, 'link.json'));
      await expect(writeWithoutLinks(join(folder, 'link.json'), 'new')).rejects.toThrow(/it is a symbolic link/);
      expect(readFileSync(join(folder, 'real.json'), 'utf8')).toBe('old');
      expect(readdirSync(folder).sort()).toEqual(['link.json', 'real.json']);
    },
  );

  it('writes into a device instead of replacing it', async () => {
    await writeWhole('/dev/null', 'text');
    expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it('leaves no file behind when it fails', async () => {
    mkdirSync(join(folder, 'gone'));
    const target = join(folder, 'gone', 'x.json');
    rmSync(join(folder, 'gone'), { recursive: true });
    await expect(writeWhole(target, 'text')).rejects.toThrow(
      `Could not write '${target}': its directory does not exist.`,
    );
    expect(existsSync(target)).toBe(false);
  });
});

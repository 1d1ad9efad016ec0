import { closeSync, existsSync, mkdirSync, openSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { discover, snapshot } from '../../../lib/systems/process/state-discovery.js';
import { privateDirectory, refusedStateFile, StateFiles } from '../../../lib/systems/process/state-files.js';
import { temporaryFolder } from './fixtures.js';

const folder = temporaryFolder();

describe('the private folder', () => {
  it('is created for this user only, and never reuses an existing one', async () => {
    const path = join(folder, 'private');
    await privateDirectory(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    await expect(privateDirectory(path)).rejects.toThrow(/to be a new folder for this run's state: it exists\./);
  });
});

describe('names of state files', () => {
  it.each(['{runDir}/state', '{runDir}/a/b', '/dev/shm/layer', '/tmp/layer-{tenant}'])('accepts %s', (path) =>
    expect(refusedStateFile(path, '{runDir}')).toBeNull(),
  );

  it.each([
    '/',
    '/etc',
    '{runDir}',
    '{runDir}/../x',
    '/tmp/../etc/passwd',
    '/tmp/*',
    '/tmp/?',
    '/tmp/[a]',
    'state',
    './x',
    '/tmp/',
    '/tmp//x',
    '/tmp/a\0b',
    '{runDir}evil/x',
  ])('refuses %j', (path) => expect(refusedStateFile(path, '{runDir}')).toEqual(expect.any(String)));
});

describe('state files', () => {
  const own = join(folder, 'own');
  const outside = join(folder, 'outside');
  mkdirSync(own);
  mkdirSync(outside);

  it('are deleted if they appeared after their claim', async () => {
    const files = new StateFiles(own);
    const path = join(outside, 'region');
    await files.claim([path]);
    writeFileSync(path, '');
    expect(await files.remove()).toEqual([]);
    expect(existsSync(path)).toBe(false);
  });

  it('are refused and kept if they existed before', async () => {
    const path = join(outside, 'foreign');
    writeFileSync(path, '');
    const files = new StateFiles(own);
    await expect(files.claim([path])).rejects.toThrow(/not to exist before the run/);
    expect(await files.remove()).toEqual([]);
    expect(existsSync(path)).toBe(true);
  });

  it('are not removed if a folder outside the run directory has their path', async () => {
    const path = join(outside, 'grown');
    const files = new StateFiles(own);
    await files.claim([path]);
    mkdirSync(path);
    expect(await files.remove()).toEqual([`${path} was left in place: it is a folder`]);
  });

  it('are kept behind a link out of the run directory', async () => {
    const victim = join(outside, 'victim');
    writeFileSync(victim, '');
    const files = new StateFiles(own);
    await files.claim([join(own, 'sub', 'victim')]);
    symlinkSync(outside, join(own, 'sub'));
    expect(await files.remove()).toEqual([expect.stringContaining('leads out of the run directory')]);
    expect(existsSync(victim)).toBe(true);
  });

  it('are deleted as a link, without its target', async () => {
    const target = join(outside, 'target');
    writeFileSync(target, '');
    const files = new StateFiles(own);
    await files.claim([join(own, 'link')]);
    symlinkSync(target, join(own, 'link'));
    expect(await files.remove()).toEqual([]);
    expect(existsSync(target)).toBe(true);
  });
});

describe('discovered state', () => {
  it('contains new files open in the process; others are only named', async () => {
    const place = join(folder, 'shm');
    mkdirSync(place);
    writeFileSync(join(place, 'old'), '');
    const before = await snapshot([place]);
    writeFileSync(join(place, 'foreign'), '');
    const open = openSync(join(place, 'region'), 'w');
    const found = await discover(before, process.pid, [place]);
    closeSync(open);
    expect(found).toEqual({ held: [join(place, 'region')], unclaimed: [join(place, 'foreign')] });
  });
});

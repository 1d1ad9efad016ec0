import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ownIdentity } from '../../../lib/environment/process-identity.js';
import {
  isOfOneRun,
  lasting,
  makeRunDirectory,
  removeAbandonedDirectories,
} from '../../../lib/systems/process/run-directory.js';
import { daemonFile, recordDaemon } from '../../../lib/systems/kinds/mps/recorded-daemon.js';
import { fileSystem } from '../../cli/file-system.js';
import { temporaryFolder } from '../../temporary.js';

const full = fileSystem('size=64k');

describe('a path in a run directory', () => {
  it.each([
    ['/tmp/gvb-aB3xYz/hami-core/cache-0-2', '/tmp/{runDir}'],
    ['/tmp/gvb-aB3xYz', '/tmp/{runDir}'],
    ['a=/tmp/gvb-aB3xYz/x;b=/tmp/gvb-aB3xYz/y', 'a=/tmp/{runDir};b=/tmp/{runDir}'],
  ])('%s is the same in every session', (value, text) => {
    expect(lasting(value)).toBe(text);
    expect([isOfOneRun(value), isOfOneRun(value)]).toEqual([true, true]);
  });

  it.each(['/opt/gvb-interpose/libx.so', '/opt/gvb-1/x', '/tmp/xgvb-aB3xYz/x', '10g', ''])('is not %j', (value) => {
    expect(lasting(value)).toBe(value);
    expect(isOfOneRun(value)).toBe(false);
  });
});

describe('a run directory', () => {
  let folder = '';
  /** The same PID with another start time is another process, so the owner has ended. */
  const dead = () => ({ ...ownIdentity(), startTime: '1' });

  /** A run directory with an entry, as a killed run leaves it. */
  function left(name: string, owner: unknown): string {
    const directory = join(folder, name);
    mkdirSync(join(directory, 'state'), { recursive: true });
    writeFileSync(join(directory, 'owner.json'), typeof owner === 'string' ? owner : JSON.stringify(owner));
    return directory;
  }

  beforeEach(() => {
    folder = temporaryFolder('abandoned');
    vi.stubEnv('TMPDIR', folder);
  });
  afterEach(() => vi.unstubAllEnvs());

  it('names its owner, and is kept while that process lives', async () => {
    const directory = await makeRunDirectory();
    expect(JSON.parse(readFileSync(join(directory, 'owner.json'), 'utf8'))).toEqual(ownIdentity());
    expect(await removeAbandonedDirectories()).toEqual([]);
    expect(existsSync(directory)).toBe(true);
  });

  it('is removed with its content after its owner has ended', async () => {
    const directory = left('gvb-aB3xYz', dead());
    expect(await removeAbandonedDirectories()).toEqual([directory]);
    expect(existsSync(directory)).toBe(false);
  });

  it('keeps the targets of its links', async () => {
    const directory = left('gvb-aB3xYz', dead());
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'kept'), '');
    symlinkSync(elsewhere, join(directory, 'state', 'link'));
    expect(await removeAbandonedDirectories()).toEqual([directory]);
    expect(existsSync(join(elsewhere, 'kept'))).toBe(true);
  });

  it('is not a symbolic link to one', async () => {
    const target = left('elsewhere', dead());
    symlinkSync(target, join(folder, 'gvb-aB3xYz'));
    expect(await removeAbandonedDirectories()).toEqual([]);
    expect(existsSync(join(target, 'state'))).toBe(true);
  });

  it('is not read through an owner file that is a symbolic link', async () => {
    const directory = join(folder, 'gvb-aB3xYz');
    mkdirSync(directory);
    writeFileSync(join(folder, 'owner.json'), JSON.stringify(dead()));
    symlinkSync(join(folder, 'owner.json'), join(directory, 'owner.json'));
    expect(await removeAbandonedDirectories()).toEqual([]);
    expect(existsSync(directory)).toBe(true);
  });

  it.each([
    ['another name', 'gvb-1', () => dead()],
    ['the name of another program', 'xyz-aB3xYz', () => dead()],
    ['an owner on another host', 'gvb-aB3xYz', () => ({ ...dead(), host: 'elsewhere', bootId: 'another' })],
    ['an owner in another PID namespace', 'gvb-aB3xYz', () => ({ ...dead(), pidNamespace: 'pid:[1]' })],
    ['no owner that can be read', 'gvb-aB3xYz', () => '{"pid":'],
    ['an owner of another form', 'gvb-aB3xYz', () => ({ pid: 1 })],
  ])('is kept with %s', async (_, name, owner) => {
    const directory = left(name, owner());
    expect(await removeAbandonedDirectories()).toEqual([]);
    expect(existsSync(join(directory, 'state'))).toBe(true);
  });

  it.each<[string, string[], number, boolean]>([
    ['removed two hours after it was made, empty', [], 2, true],
    ['removed two hours after it was made, with an owner file of no bytes', ['owner.json'], 2, true],
    ['kept for an hour, when its owner may not have named itself yet', [], 0.9, false],
    ['kept where it holds something else', ['cache'], 2, false],
    ['kept where it holds something else beside an owner file of no bytes', ['owner.json', 'cache'], 2, false],
  ])('without an owner is %s', async (_, files, hours, isRemoved) => {
    const directory = join(folder, 'gvb-aB3xYz');
    mkdirSync(directory);
    for (const name of files) writeFileSync(join(directory, name), '');
    const time = Date.now() / 1_000 - hours * 3_600;
    utimesSync(directory, time, time);
    expect(await removeAbandonedDirectories()).toEqual(isRemoved ? [directory] : []);
    expect(existsSync(directory)).toBe(!isRemoved);
  });

  it.each(['witness', 'calls'] as const)(
    'of a %s has an owner too, and is removed when that has ended',
    async (purpose) => {
      const directory = await makeRunDirectory(purpose);
      expect(directory).toMatch(new RegExp(`/gvb-${purpose}-.{6}$`));
      expect(await removeAbandonedDirectories()).toEqual([]);
      writeFileSync(join(directory, 'owner.json'), JSON.stringify(dead()));
      expect(await removeAbandonedDirectories()).toEqual([directory]);
    },
  );

  it('has an absolute path below a relative TMPDIR', async () => {
    vi.stubEnv('TMPDIR', relative(process.cwd(), folder));
    const directory = await makeRunDirectory();
    expect(dirname(directory)).toBe(folder);
    writeFileSync(join(directory, 'owner.json'), JSON.stringify(dead()));
    expect(await removeAbandonedDirectories()).toEqual([directory]);
  });

  it('is named if it cannot be made', async () => {
    vi.stubEnv('TMPDIR', join(folder, 'absent'));
    await expect(makeRunDirectory()).rejects.toThrow(
      `Could not write '${folder}/absent/gvb-…': its directory does not exist.`,
    );
  });

  it.skipIf(full === null)('is named, and does not stay, if its disk is full', async () => {
    vi.stubEnv('TMPDIR', full as string);
    writeFileSync(join(full as string, 'rest'), '');
    expect(() => writeFileSync(join(full as string, 'rest'), Buffer.alloc(2 ** 20))).toThrow(/ENOSPC/);
    await expect(makeRunDirectory()).rejects.toThrow(/^Could not write '.*\/gvb-.*': no space is left on its disk\.$/);
    expect(readdirSync(full as string)).toEqual(['rest']);
  });

  it('is removed with the daemon that it records, which its guardian did not end', async () => {
    const directory = left('gvb-aB3xYz', dead());
    const daemon = spawn('sleep', ['600']);
    const other = spawn('sleep', ['600']);
    try {
      const inner = join(directory, 'mig@2', 'mps');
      mkdirSync(inner, { recursive: true });
      recordDaemon(daemonFile(inner), daemon.pid as number);
      mkdirSync(join(directory, 'second'));
      const identity = { ...ownIdentity(), pid: other.pid, startTime: '1' };
      writeFileSync(daemonFile(join(directory, 'second')), JSON.stringify(identity));
      const ended = once(daemon, 'exit');
      expect(await removeAbandonedDirectories()).toEqual([directory]);
      expect(await ended).toEqual([null, 'SIGKILL']);
      // Another process has the number of the second.
      expect(other.exitCode ?? other.signalCode).toBeNull();
    } finally {
      for (const each of [daemon, other]) each.kill('SIGKILL');
    }
  });

  it('is removed if its host has booted since', async () => {
    const directory = left('gvb-aB3xYz', { ...ownIdentity(), bootId: 'another' });
    expect(await removeAbandonedDirectories()).toEqual([directory]);
  });

  it.runIf(process.getuid?.() === 0)('is kept if it belongs to another user', async () => {
    const directory = left('gvb-aB3xYz', dead());
    chownSync(directory, 65_534, 65_534);
    expect(await removeAbandonedDirectories()).toEqual([]);
    expect(existsSync(directory)).toBe(true);
  });
});

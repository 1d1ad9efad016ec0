import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { LOCK, lockDirectory } from '../../../lib/cli/files/directory-lock.js';
import { ownIdentity } from '../../../lib/environment/process-identity.js';
import { temporaryFolder } from '../../temporary.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, LOCK);
});

const lock = () => lockDirectory(folder, '--output');
const leave = (change: object) => writeFileSync(file, JSON.stringify({ ...ownIdentity(), ...change }));

describe('the lock of a directory', () => {
  it('belongs to one process, whose PID others are told, and is removed on release', async () => {
    const unlock = await lock();
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(ownIdentity());
    await expect(lock()).rejects.toThrow(
      `PID ${process.pid} is writing to it; wait for it to end, or name another directory.`,
    );
    await unlock();
    expect(readdirSync(folder)).toEqual([]);
    await (
      await lock()
    )();
  });

  it.each([
    ['whose PID another process has now', { startTime: '1' }],
    ['of an earlier boot of this host', { bootId: 'earlier' }],
  ])('is taken over from an owner %s', async (_, change) => {
    leave(change);
    const unlock = await lock();
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(ownIdentity());
    await unlock();
  });

  it.each([
    [
      'of another container',
      { pidNamespace: 'pid:[1]', pid: 7 },
      /PID 7 of host .*cannot be checked from here; .* remove/,
    ],
    ['of another host', { bootId: 'b', host: 'node-2', pid: 8 }, /PID 8 of host node-2 locked it/],
    ['that says nothing', { pid: 'x' }, /an unknown process locked it/],
  ])('%s is not taken over', async (_, change, says) => {
    leave(change);
    await expect(lock()).rejects.toThrow(says);
    expect(existsSync(file)).toBe(true);
  });

  it('is taken over by only one of several that find it stale', async () => {
    for (let time = 0; time < 50; time++) {
      leave({ startTime: '1' });
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, lock));
      const taken = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      expect(taken).toHaveLength(1);
      expect(readdirSync(folder)).toEqual([LOCK]);
      await taken[0]?.();
    }
  });

  it('is not taken over if another process died while it tried, and the error says what to remove', async () => {
    leave({ startTime: '1' });
    const guard = `${file}.takeover`;
    writeFileSync(guard, JSON.stringify({ ...ownIdentity(), startTime: '2' }));
    await expect(lock()).rejects.toThrow(`locked it and has ended; remove '${guard}'`);
    rmSync(guard);
    await (
      await lock()
    )();
  });
});

/** Processes of other users if /proc is mounted with hidepid (proc(5)): they run, but /proc does not show them. */
import type * as fs from 'node:fs';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { LOCK, lockDirectory } from '../../../lib/cli/files/directory-lock.js';
import { ownerState, ownIdentity } from '../../../lib/environment/process-identity.js';

/** PIDs that /proc hides, with its error code. */
const hidden = new Map<number, string>();
vi.mock('node:fs', async (original) => {
  const actual = await original<typeof fs>();
  const read = ((path: string, ...rest: never[]) => {
    const [, pid] = /^\/proc\/(\d+)\/stat$/.exec(path) ?? [];
    const code = hidden.get(Number(pid));
    if (code !== undefined) throw Object.assign(new Error(code), { code });
    return actual.readFileSync(path, ...rest);
  }) as typeof readFileSync;
  return { ...actual, readFileSync: read };
});

/** The result of a signal to such a process, which belongs to another user. */
const signalAnswers = (code: string | null) =>
  vi.spyOn(process, 'kill').mockImplementation(() => {
    if (code !== null) throw Object.assign(new Error(code), { code });
    return true;
  });

afterEach(() => {
  hidden.clear();
  vi.restoreAllMocks();
});

const other = () => ({ ...ownIdentity(), pid: 4_000_000, startTime: '1' });

it.each([
  ['unknown', 'ENOENT', 'EPERM'],
  ['unknown', 'EPERM', 'EPERM'],
  ['unknown', 'EACCES', null],
  ['dead', 'ENOENT', 'ESRCH'],
  ['dead', 'EACCES', 'ESRCH'],
])('a process is %s if /proc returns %s and a signal %s', (state, proc, signal) => {
  const owner = other();
  hidden.set(owner.pid, proc);
  signalAnswers(signal);
  expect(ownerState(owner)).toBe(state);
});

it('the lock of a hidden process is not taken over', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gvb-'));
  try {
    const owner = other();
    writeFileSync(join(folder, LOCK), JSON.stringify(owner));
    hidden.set(owner.pid, 'ENOENT');
    signalAnswers('EPERM');
    await expect(lockDirectory(folder, '--output')).rejects.toThrow(
      /PID 4000000 of host .* cannot be checked from here/,
    );
    expect(JSON.parse(readFileSync(join(folder, LOCK), 'utf8'))).toEqual(owner);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

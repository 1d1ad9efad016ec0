/** The lock of a directory on a file system without hard links. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { LOCK, lockDirectory } from '../../../lib/cli/files/directory-lock.js';
import { ownIdentity } from '../../../lib/environment/process-identity.js';
import { temporaryFolder } from '../../temporary.js';

vi.mock('node:fs/promises', async (original) => ({
  ...(await original<object>()),
  link: () => Promise.reject(Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })),
}));

it('belongs to one process there too', async () => {
  const folder = temporaryFolder();
  const unlock = await lockDirectory(folder, '--output');
  expect(JSON.parse(readFileSync(join(folder, LOCK), 'utf8'))).toEqual(ownIdentity());
  await expect(lockDirectory(folder, '--output')).rejects.toThrow(`PID ${process.pid} is writing to it`);
  await unlock();
  expect(readdirSync(folder)).toEqual([]);
});

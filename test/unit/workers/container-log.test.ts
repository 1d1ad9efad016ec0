import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ContainerLog } from '../../../lib/workers/container/container-log.js';
import { temporaryFolder } from '../../temporary.js';

it('reads the log of a container by stream while it grows, with lines in parts', () => {
  const path = join(temporaryFolder('log'), 'c.log');
  const said = { stdout: '', stderr: '' };
  const log = new ContainerLog(path, (stream, text) => (said[stream] += text.toString('latin1')));
  log.read();
  expect(said).toEqual({ stdout: '', stderr: '' });
  const time = '2026-11-27T17:52:59.820563126+00:00';
  appendFileSync(path, `${time} stdout F a b  c\n${time} stderr F \n${time} stdout P half `);
  log.read();
  expect(said).toEqual({ stdout: 'a b  c\n', stderr: '\n' });
  appendFileSync(path, Buffer.from(`\n${time} stdout F \xff line\n`, 'latin1'));
  log.read();
  expect(said.stdout).toBe('a b  c\nhalf \xff line\n');
  const long = 'x'.repeat(200_000);
  appendFileSync(path, `${time} stderr F ${long}\n`);
  log.read();
  expect(said.stderr).toBe(`\n${long}\n`);
  log.close();
});

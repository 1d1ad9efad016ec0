import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  ownerState,
  ownIdentity,
  type ProcessIdentity,
  parseIdentity,
} from '../../../lib/environment/process-identity.js';

async function ended(): Promise<number> {
  const child = spawn('true');
  await once(child, 'exit');
  return child.pid as number;
}

describe('the identity of a process', () => {
  it('is alive while the process runs, and is read as it was written', () => {
    const own = ownIdentity();
    expect(own.pid).toBe(process.pid);
    expect(parseIdentity(JSON.stringify(own))).toEqual(own);
    expect(ownerState(own)).toBe('alive');
  });

  it.each([
    ['no JSON', ''],
    ['null', 'null'],
    ['a list', '[1]'],
    ['no PID', JSON.stringify({ ...ownIdentity(), pid: undefined })],
    ['a PID of 0', JSON.stringify({ ...ownIdentity(), pid: 0 })],
    ['a host that is no text', JSON.stringify({ ...ownIdentity(), host: 1 })],
  ])('is not read from %s', (_, text) => expect(parseIdentity(text)).toBeNull());

  it('is dead when the process has ended', async () =>
    expect(ownerState({ ...ownIdentity(), pid: await ended() })).toBe('dead'));

  it.each<[string, Partial<ProcessIdentity>, string]>([
    ['dead where another process has its PID', { startTime: '1' }, 'dead'],
    ['dead after this host has booted again', { bootId: 'another' }, 'dead'],
    ['unknown on another host that shares the disk', { bootId: 'another', host: 'another.host' }, 'unknown'],
    ['unknown in another PID namespace', { pidNamespace: 'pid:[1]' }, 'unknown'],
  ])('is %s', (_, change, state) => expect(ownerState({ ...ownIdentity(), ...change })).toBe(state));

  it('has the start time of a process whose name contains a parenthesis and spaces', async () => {
    const child = spawn('sh', ['-c', 'printf ") Z 1" > /proc/$$/comm; echo; read line'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
    const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] as string;
    expect(stat).toContain('() Z 1)');
    expect(ownerState({ ...ownIdentity(), pid: child.pid as number, startTime })).toBe('alive');
    child.stdin.end();
    await once(child, 'exit');
  });
});

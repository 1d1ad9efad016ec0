import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../../lib/systems/process/command.js';
import { processesOf } from '../../processes.js';

const options = { environment: { PATH: process.env.PATH ?? '' }, cwd: '/' };

describe('a command', () => {
  it('ends with its exit code and the end of its output', async () =>
    expect(await runCommand(['sh', '-c', 'echo out; echo err >&2; exit 4'], options)).toEqual({
      exit: 4,
      how: 'ended with exit code 4',
      isCut: false,
      stdout: 'out\n',
      output: expect.stringMatching(/out\n|err\n/),
    }));

  it('is killed with its children at its time limit', async () => {
    const mark = randomUUID();
    const environment = { ...options.environment, GVB_TEST_MARK: mark };
    const command = ['sh', '-c', 'sleep 1000 & sleep 1000'];
    const { exit, how } = await runCommand(command, { ...options, environment, timeoutMs: 500 });
    expect({ exit, how }).toEqual({ exit: null, how: 'ran past its 0.5 s and was killed' });
    await expect.poll(() => processesOf(mark)).toEqual([]);
  });

  it('rejects with the reason of an abort, and leaves no process', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => stop.abort(reason), 100);
    const mark = randomUUID();
    const environment = { ...options.environment, GVB_TEST_MARK: mark };
    const running = runCommand(['sleep', '1000'], { ...options, environment, signal: stop.signal });
    await expect(running).rejects.toBe(reason);
    await expect.poll(() => processesOf(mark)).toEqual([]);
  });
});

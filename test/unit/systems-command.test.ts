import { describe, expect, it } from 'vitest';
import { runCommand } from '../../lib/systems/command.js';

const options = { environment: { PATH: process.env.PATH ?? '' }, cwd: '/' };

describe('a command', () => {
  it('ends with its exit code and the end of what it printed', async () =>
    expect(await runCommand(['sh', '-c', 'echo out; echo err >&2; exit 4'], options)).toEqual({
      exit: 4,
      how: 'ended with exit code 4',
      output: expect.stringMatching(/out\n|err\n/),
    }));

  it('is killed with its children when its time is over', async () => {
    const before = performance.now();
    const { exit, how } = await runCommand(['sh', '-c', 'sleep 30 & sleep 30'], { ...options, timeoutMs: 200 });
    expect({ exit, how }).toEqual({ exit: null, how: 'ran past its 0.2 s and was killed' });
    expect(performance.now() - before).toBeLessThan(30_000);
  });

  it('rejects with the reason of an abort, and leaves no process', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => stop.abort(reason), 100);
    await expect(runCommand(['sleep', '30'], { ...options, signal: stop.signal })).rejects.toBe(reason);
  });
});

/** A monitor in a process that does other things; each scenario in its own process. */
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MonitorSummary } from '../../lib/monitor/summary.js';
import { answerOf, emptyFolder } from './child.js';

const sim = { init_ms: 1, context_ms: 1 };
const watching = <T>(scenario: string, ...args: string[]) => answerOf<T>('watching.mjs', [scenario, ...args], { sim });

describe('startMonitor', () => {
  it('samples while the event loop is blocked, and delivers all samples afterwards', async () => {
    type Answer = Record<'samples' | 'missedIntervals' | 'lostSamples' | 'handed' | 'after', number>;
    const { samples, lostSamples, handed, after } = await watching<Answer>('blocked');
    expect(lostSamples).toBe(0);
    expect(handed).toBe(samples);
    // A second of sleep: a timer of the event loop would have taken only one sample.
    expect(after).toBeGreaterThan(2);
  });

  it.each(['unstopped', 'exit'])('does not keep or break a process that ends: %s', async (scenario) =>
    expect(await watching(scenario)).toBe('started'),
  );

  it('ends with its worker thread, and leaves other monitors running', async () => {
    const summary = await watching<MonitorSummary>('thread');
    expect(summary).toMatchObject({ simulated: true, intervalMs: 100, gaps: [] });
    // On a busy machine no reading may be fast enough.
    expect(summary.unsupported.filter(({ reason }) => !reason.startsWith('reading it takes '))).toEqual([]);
    expect(summary.samples).toBeGreaterThan(1);
    expect(summary.durationS).toBeGreaterThan(0.1);
  });

  it('returns the same summary to every caller of stop', async () =>
    expect(await watching('again')).toEqual({ same: true, third: true }));

  it('samples at several intervals at the same time', async () => {
    const [slow, fast] = await watching<{ samples: number; intervalMs: number }[]>('two');
    expect(slow?.samples).toBeLessThanOrEqual(8);
    expect(fast?.samples).toBeGreaterThan(slow?.samples as number);
  });

  it('leaves no thread or file behind', async () => {
    const { before, after } = await watching<Record<'before' | 'after', { threads: number; files: number }>>('many');
    expect(after.files).toBe(before.files);
    expect(after.threads).toBeLessThanOrEqual(before.threads);
  });

  it('reports what it cannot do', async () =>
    expect(await watching('refused')).toEqual([
      {
        ...{ name: 'BenchError', code: 'NO_SUCH_DEVICE' },
        message: "Expected device to be 0 or a UUID of this machine's GPUs but received 9.",
      },
      {
        ...{ name: 'BenchError', code: 'NO_SUCH_DEVICE' },
        message: "Expected device to be 0 or a UUID of this machine's GPUs but received 'GPU-ffff'.",
      },
      {
        ...{ name: 'BenchError', code: 'NOT_WRITABLE' },
        message: "Could not write '/nowhere/x.csv': its directory does not exist.",
      },
      {
        ...{ name: 'RangeError', code: null },
        message: 'Expected intervalMs to be an integer from 10 to 3600000 but received 1.',
      },
    ]));

  it('ends when its CSV can no longer be written, and rejects with the samples so far', async () => {
    const pipe = join(emptyFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    // A reader that exits after the header.
    const reader = spawn('head', ['-n', '1', pipe], { stdio: 'ignore' });
    onTestFinished(() => void reader.kill('SIGKILL'));
    const answer = await watching<Record<'told' | 'name' | 'message', string> & { samples: number }>('full', pipe);
    expect(answer).toMatchObject({ told: answer.message, name: 'MonitorError' });
    expect(answer.message).toMatch(/^Could not write '.*pipe': /);
    expect(answer.samples).toBeGreaterThan(0);
  });
});

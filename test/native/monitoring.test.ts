/** OH-009 on the simulated GPU: recovers the processor time of an injected thread, and about 0 without one. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import { processesOf, workersOf } from '../cli/command.js';
import { undisturbed, undisturbedRecord } from '../undisturbed.js';
import { emptyFolder } from './child.js';
import { recordsIn } from './record.js';
import { customUnder, environment, environmentUnder, mark, measured } from './measured.js';

/** Some kernels account a thread's time in ticks of 10 ms, over seconds. */
const TOLERANCE = 0.3;
const gone = () => expect.poll(() => processesOf(mark)).toEqual([]);

/**
 * The least and the most that each polling thread used in a window of that length, in percent of a processor; idle
 * threads are left out. A thread delayed by a busy machine makes up for it in the next window.
 */
function polled(record: string, windowMs: number): { least: number; most: number }[] {
  return recordsIn(record).flatMap(({ calls }) => {
    const bursts = calls.filter(({ name }) => name === 'poll');
    const used = bursts.flatMap((first) => {
      const last = bursts.find(({ entered }) => entered >= first.entered + 1e6 * windowMs);
      return last ? [100 * ((last.begins - first.begins) / (last.entered - first.entered))] : [];
    });
    return used.length > 0 ? [{ least: Math.min(...used), most: Math.max(...used) }] : [];
  });
}

function expectWithin(percent: number | null, used: ReturnType<typeof polled>): void {
  expect(percent).toBeGreaterThan(Math.min(...used.map(({ least }) => least)) - TOLERANCE);
  expect(percent).toBeLessThan(Math.max(...used.map(({ most }) => most)) + TOLERANCE);
}

function preloadedThreads(mode: string) {
  const source = fileURLToPath(new URL('fixtures/threads.c', import.meta.url));
  const library = join(emptyFolder(), 'threads.so');
  execFileSync('cc', ['-shared', '-fPIC', '-pthread', '-o', library, source]);
  return environmentSystem({ ...environment(null), LD_PRELOAD: library, GVB_TEST_THREADS: mode });
}

describe('OH-009', () => {
  it('recovers the use of a polling thread, and names it', async () => {
    const { result, record } = await undisturbedRecord((folder) =>
      measured('OH-009', environmentUnder('poll=3%', '', folder)),
    );
    expect(result).toMatchObject({ status: 'ok', unit: '%', ci95: null, processes: 1 });
    const { threads, rows, windowMs } = result.details as {
      threads: { comm: string; cpuMs: number }[];
      rows: { wakeupsPerSecond: number }[];
      windowMs: number;
    };
    const used = polled(record, windowMs);
    expect(used).toHaveLength(1);
    expect(used[0]?.least).toBeGreaterThan(2 * TOLERANCE);
    expectWithin(result.value, used);
    // The simulated driver has a thread too, which sleeps.
    const [own, ...others] = threads;
    expect(own).toMatchObject({ comm: 'gvb-poll' });
    expect(others).toEqual([expect.objectContaining({ comm: 'gvb-checkpoint', cpuMs: 0, wakeups: 0 })]);
    // It sleeps ten times a second, less often on a busy machine; other threads of the process may wake up too.
    expect(rows[0]?.wakeupsPerSecond).toBeGreaterThan(0);
  });

  it.each(['none', 'poll=0'])('is about 0 with %s', async (settings) => {
    const result = await undisturbed(
      () => measured('OH-009', environmentUnder(settings === 'none' ? null : settings)),
      (of) => [of],
    );
    expect(result.status).toBe('ok');
    expect(result.value).toBeGreaterThanOrEqual(0);
    expect(result.value).toBeLessThan(TOLERANCE);
  });

  it('measures four tenants as well from standard on', async () => {
    const { result, record } = await undisturbedRecord(async (folder) =>
      measured('OH-009', await customUnder('poll=2%', undefined, folder), { tier: 'standard' }),
    );
    const { rows, windowMs } = result.details as {
      rows: { processes: number; cpuPercent: number }[];
      windowMs: number;
    };
    expect(rows.map(({ processes }) => processes)).toEqual([1, 4]);
    const used = polled(record, windowMs);
    expect(used).toHaveLength(4);
    for (const { cpuPercent } of rows) expectWithin(cpuPercent, used);
  });

  it('counts a process that the layer starts in the tenant', async () => {
    const result = await undisturbed(
      () => measured('OH-009', preloadedThreads('process')),
      (of) => [of],
    );
    expect(result.status).toBe('ok');
    const { threads, windowMs } = result.details as { threads: { comm: string; cpuMs: number }[]; windowMs: number };
    const child = threads.find(({ comm }) => comm === 'gvb-child');
    expect(child?.cpuMs).toBeGreaterThan(0);
    // The window lasts at least as long as was waited.
    expect(result.value).toBeGreaterThan(0);
    expect(result.value).toBeLessThanOrEqual((100 * threads.reduce((sum, { cpuMs }) => sum + cpuMs, 0)) / windowMs);
  });

  it.each([
    ['early', /^the threads from before the first driver call were idle: /],
    ['passing', /^the threads' times add up to the process's: within \d/],
  ])('is invalid if threads are %s, because their owner is unknown', async (mode, reason) => {
    const result = await measured('OH-009', preloadedThreads(mode));
    expect(result).toMatchObject({ status: 'invalid', value: null, reason: expect.stringMatching(reason) });
  });

  it('is unsupported if no tenant fits into memory', async () => {
    const result = await measured('OH-009', environmentUnder(null, 'memory_mib=300'));
    expect(result).toMatchObject({ status: 'unsupported', reason: 'no process fits into memory' });
  });

  it('fails when a tenant dies', async () => {
    const onProgress = () => {
      for (const { pid } of workersOf(mark)) process.kill(pid, 'SIGKILL');
    };
    const result = await measured('OH-009', environmentUnder('poll=3%'), { onProgress });
    expect(result).toMatchObject({ status: 'failed', value: null, reason: expect.stringContaining('SIGKILL') });
    await gone();
  });

  it('ends with the reason of an abort and leaves no process', async () => {
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error('enough'));
    const aborted = measured('OH-009', environmentUnder('poll=3%'), { signal: controller.signal, onProgress });
    await expect(aborted).rejects.toThrow('enough');
    await gone();
  });
});

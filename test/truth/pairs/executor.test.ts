/**
 * The executor where times matter, and during launches: each waits for the simulated device, which on a busy machine
 * waits for a processor.
 */
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { attempt, scenario, script } from '../../native/child.js';
import { expectAllocation, expectCost, sim } from '../../native/executor.js';
import { onOneProcessor } from '../../processors.js';
import { undisturbed } from '../../undisturbed.js';

const oneProcessor = onOneProcessor('the progress of OH-001, and a device that is lost while it measures');

/**
 * If the simulated device did not run for long, OH-001 ends without its rows: neither `done` nor at the lost device.
 */
const attemptUndisturbed: typeof attempt = (...request) =>
  undisturbed(
    () => attempt(...request),
    (answers) => answers.map(({ result }) => result),
  );

describe('abort', () => {
  it('rejects a running measurement with the reason, and the next one works', async () => {
    const { results, next } = await scenario<{ results: { sameReason: boolean }[]; next: MetricResult }>(
      'abortMidway',
      { sim },
    );
    expect(results.map(({ sameReason }) => sameReason)).toEqual([true, true, true, true]);
    expectAllocation(next);
  });
});

describe('measurements at once', () => {
  it('run one after the other, with correct results', async () => {
    const { events, free, allocation, interception } = await scenario<{
      events: string[];
      free: MetricResult;
      allocation: MetricResult;
      interception: MetricResult;
    }>('concurrent', { sim });
    expect(events.filter((name, i) => name !== events[i - 1])).toEqual(['free', 'allocation', 'interception']);
    expectCost(free, sim.free_us);
    expectAllocation(allocation);
    // Twenty pairs are few: a busy machine may disturb the controls, which does not affect the findings.
    expect(interception).toMatchObject({ id: 'OH-005', details: { interceptedCount: 0, missing: [] } });
  });

  it('leave the event loop free during a measurement', async () => {
    const events = await scenario<string[]>('eventLoopTurns', { sim });
    expect(events).toEqual(['turned', 'turned', 'turned', 'measured']);
  });
});

it('progress goes from 0 to 1 and never back', async () => {
  const answers = await attemptUndisturbed(
    [
      ...(oneProcessor ? [] : ([['measureKernelLaunch', { iterations: 300 }]] as const)),
      ['measureMemoryAllocation', { iterations: 50 }],
      ['measureMemoryFree', { iterations: 50 }],
      ['measureContextCreation', { iterations: 2 }],
      ['measureApiInterception', { iterations: 10 }],
    ],
    { sim },
  );
  for (const { fractions, steps } of answers) {
    expect(fractions[0]).toBe(0);
    expect(fractions.at(-1)).toBe(1);
    expect(steps.at(-1)).toBe('done');
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(fractions.filter((fraction) => fraction === 1)).toHaveLength(1);
    expect(new Set(fractions).size).toBeGreaterThan(3);
    expect(new Set(steps).size).toBeGreaterThan(3);
  }
});

describe('the end of the process', () => {
  it('by process.exit during launches keeps the code', async () => {
    const { code, signal, stderr } = await script('scenarios.mjs', ['exitMidway'], { sim });
    expect({ code, signal, stderr }).toEqual({ code: 7, signal: null, stderr: '' });
  });

  it('by an uncaught error reports that error', async () => {
    const { code, signal, stderr } = await script('scenarios.mjs', ['throwMidway'], { sim });
    expect({ code, signal }).toEqual({ code: 1, signal: null });
    expect(stderr).toMatch(/Error: the caller failed/);
  });
});

describe.skipIf(oneProcessor)('a lost device', () => {
  it('makes the metric failed, with code and call', async () => {
    const [answer] = await attemptUndisturbed([['measureKernelLaunch', { iterations: 2_000 }]], {
      sim: { ...sim, fail: 'cuLaunchKernel:719@480' },
    });
    expect(answer?.result).toMatchObject({
      status: 'failed',
      // On a busy machine the mapping of clocks takes more launches, and may fail first.
      reason: expect.stringMatching(
        /^cuLaunchKernel returned CUDA_ERROR_LAUNCH_FAILED \(719\) while (launching a kernel|mapping the device clock)\.$/,
      ) as string,
      value: null,
      ci95: null,
      stats: null,
      processes: 1,
    });
  });
});

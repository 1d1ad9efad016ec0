/** OH-004 on the simulated GPU: the cost of a process until its first result, step by step. */
import { describe, expect, it } from 'vitest';
import { measureProcesses } from '../../native/child.js';
import { startOf, truthOfStarts } from '../../native/recorded-starts.js';
import { type Estimate, expectRecovered } from '../../native/recovered.js';
import { undisturbed } from '../../undisturbed.js';

interface StepRow {
  step: string;
  valueUs: number;
  ci95: [number, number];
}
const ofUs = (row: { valueUs: number; ci95: [number, number] | null }): Estimate => ({
  value: row.valueUs,
  ci95: row.ci95,
});

const flat = <T>(found: T | null): T[] => (found === null ? [] : [found]);

describe("OH-004 recovers the durations of a start's steps", () => {
  it('separately for cuInit and the context', async () => {
    const sim = { init_ms: 4, context_ms: 17, alloc_us: 150, launch_ns: 2500 };
    // A quarter as many more start with cuCtxCreate; an interval needs six.
    const { results, processes } = await undisturbed(
      () => measureProcesses([['measureContextCreation', { iterations: 24, tier: 'thorough' }]], { sim }),
      (measured) => measured.results,
    );
    const [result] = results;
    if (!result) throw new Error('unreachable');
    expect([result.status, result.reason]).toEqual(['ok', undefined]);
    const { steps, cuCtxCreate, recreation } = result.details as {
      steps: StepRow[];
      cuCtxCreate: { processes: number; context: StepRow; total: StepRow };
      recreation: { retain: StepRow };
    };
    const step = (name: string) => ofUs(steps.find((row) => row.step === name) as StepRow);
    const known = 1e3 * (sim.init_ms + sim.context_ms) + sim.alloc_us;
    // Thirteen more start together, after those that are timed alone.
    const starts = processes.flatMap((process) => flat(startOf(process, 'primary'))).slice(0, 24);
    const created = processes.flatMap((process) => flat(startOf(process, 'created')));
    expect([starts.length, created.length]).toEqual([24, 6]);
    expectRecovered([
      ['cuInit', step('init'), truthOfStarts(starts, ({ stepsNs }) => stepsNs.init, 1e3)],
      ['context', step('context'), truthOfStarts(starts, ({ stepsNs }) => stepsNs.context, 1e3)],
      ['first allocation', step('firstAlloc'), truthOfStarts(starts, ({ stepsNs }) => stepsNs.firstAlloc, 1e3)],
      ['cuCtxCreate', ofUs(cuCtxCreate.context), truthOfStarts(created, ({ stepsNs }) => stepsNs.context, 1e3)],
      ['cuCtxCreate total', ofUs(cuCtxCreate.total), truthOfStarts(created, ({ totalNs }) => totalNs, 1e3)],
      ['re-creation', ofUs(recreation.retain), truthOfStarts(starts, ({ recreatedNs }) => recreatedNs, 1e3)],
      ['total', result, truthOfStarts(starts, ({ totalNs }) => totalNs, 1e3)],
    ]);
    expect(result).toMatchObject({ status: 'ok', processes: 24, ciScope: 'between-processes' });
    expect(cuCtxCreate.processes).toBe(6);
    const { simultaneous } = result.details as {
      simultaneous: { processes: number; valueUs: number; lastUs: number }[];
    };
    expect(simultaneous.map(({ processes }) => processes)).toEqual([1, 4, 8]);
    for (const { valueUs, lastUs } of simultaneous) {
      // No call takes less than the card's setting.
      expect(valueUs).toBeGreaterThan(known);
      expect(lastUs).toBeGreaterThanOrEqual(valueUs);
    }
  });
});

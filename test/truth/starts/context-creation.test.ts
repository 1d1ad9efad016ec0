/** OH-004 on the simulated GPU: what a process pays until its first result, step by step. */
import { describe, expect, it } from 'vitest';
import { measure } from '../../native/child.js';
import { type Estimate, expectRecovered } from '../../native/recovered.js';

interface StepRow {
  step: string;
  valueUs: number;
  ci95: [number, number];
}
const ofUs = (row: { valueUs: number; ci95: [number, number] | null }): Estimate => ({
  value: row.valueUs,
  ci95: row.ci95,
});

describe('OH-004 recovers init_ms and context_ms', () => {
  it.each([
    { init_ms: 4, context_ms: 17, alloc_us: 150, launch_ns: 2500 },
    { init_ms: 23, context_ms: 6, alloc_us: 350, launch_ns: 2500 },
  ])('$init_ms ms and $context_ms ms', async (sim) => {
    // A quarter as many more start with cuCtxCreate; six are the fewest with an interval.
    const [result] = await measure([['measureContextCreation', { iterations: 24, tier: 'thorough' }]], { sim });
    if (!result) throw new Error('unreachable');
    const { steps, cuCtxCreate, recreation } = result.details as {
      steps: StepRow[];
      cuCtxCreate: { processes: number; context: StepRow; total: StepRow };
      recreation: { retain: StepRow };
    };
    const step = (name: string) => ofUs(steps.find((row) => row.step === name) as StepRow);
    const known = 1e3 * (sim.init_ms + sim.context_ms) + sim.alloc_us;
    const ms = { tolerance: 1_000, resolution: 2_000 };
    // The interval of six is their whole range: one start on a busy core widens it.
    const ofSix = { ...ms, resolution: 20_000 };
    expectRecovered([
      ['cuInit', step('init'), { truth: 1e3 * sim.init_ms, ...ms }],
      ['context', step('context'), { truth: 1e3 * sim.context_ms, ...ms }],
      ['first allocation', step('firstAlloc'), { truth: sim.alloc_us, tolerance: 10, resolution: 20 }],
      ['second launch', step('secondLaunch'), { truth: sim.launch_ns / 1e3, tolerance: 5, resolution: 5 }],
      ['cuCtxCreate', ofUs(cuCtxCreate.context), { truth: 1e3 * sim.context_ms, ...ofSix }],
      ['cuCtxCreate total', ofUs(cuCtxCreate.total), { truth: known, ...ofSix }],
      ['re-creation', ofUs(recreation.retain), { truth: 1e3 * sim.context_ms, ...ms }],
      ['total', result, { truth: known, ...ms }],
    ]);
    expect(result).toMatchObject({ status: 'ok', processes: 24, ciScope: 'between-processes' });
    expect(cuCtxCreate.processes).toBe(6);
    const { simultaneous } = result.details as {
      simultaneous: { processes: number; valueUs: number; lastUs: number }[];
    };
    expect(simultaneous.map(({ processes }) => processes)).toEqual([1, 4, 8]);
    for (const { valueUs, lastUs } of simultaneous) {
      expect(valueUs).toBeGreaterThan(known - 1_000);
      expect(lastUs).toBeGreaterThanOrEqual(valueUs);
    }
  });
});

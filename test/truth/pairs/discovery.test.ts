/** START-005 recovers nvml_us on the simulated GPU. */
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/document.js';
import { measure, type Settings } from '../../native/child.js';
import { type Estimate, expectRecovered } from '../../native/recovered.js';

interface StepRow {
  step: string;
  valueMs: number;
  ci95: [number, number] | null;
}

const ofMs = ({ valueMs, ci95 }: StepRow): Estimate => ({ value: valueMs, ci95 });
const SHORT = { tolerance: 0.05, resolution: 0.15 };

async function discovery(iterations: number, sim: Settings): Promise<MetricResult> {
  const [result] = await measure([['measureGpuDiscovery', { iterations }]], { sim });
  if (!result) throw new Error('unreachable');
  return result;
}

describe('START-005', () => {
  interface Details {
    steps: StepRow[];
    warm: { totalMs: { count: number; p99: number | null; p999: number | null }; steps: StepRow[] };
    nvml: { path: string; owner: string; functions: { name: string; intercepted: boolean }[] };
  }

  it('recovers nvml_us in every step, cold and warm', async () => {
    const result = await discovery(12, { nvml_us: 200 });
    const { steps, warm, nvml } = result.details as unknown as Details;
    expect(steps).toHaveLength(8);
    expectRecovered([
      ['headline', result, { truth: 8 * 0.2, tolerance: 0.25, resolution: 1 }],
      ...steps.map((row) => [`cold ${row.step}`, ofMs(row), { truth: 0.2, ...SHORT }] as const),
      ...warm.steps.map((row) => [`warm ${row.step}`, ofMs(row), { truth: 0.2, ...SHORT }] as const),
    ]);
    expect(warm.totalMs).toMatchObject({ count: 1200, p99: expect.any(Number), p999: null });
    expect(nvml).toMatchObject({ path: 'dlsym', function: 'nvmlInit_v2' });
    expect(nvml.owner).toMatch(/libnvidia-ml\.so\.1$/);
    expect(nvml.functions.filter(({ intercepted }) => intercepted)).toEqual([]);
  });

  it('asks every GPU', async () => {
    const result = await discovery(1, { nvml_us: 100, devices: 3 });
    expect(result).toMatchObject({ status: 'ok', details: { gpus: 3 } });
    const { warm } = result.details as unknown as Details;
    const truthOf = ({ step }: StepRow) => (/Init|Count/.test(step) ? 0.1 : 0.3);
    expectRecovered(
      warm.steps.map(
        (row) => [row.step, ofMs(row), { truth: truthOf(row), tolerance: 0.03, resolution: 0.1 }] as const,
      ),
    );
  });
});

/** START-005 recovers the durations of NVML's calls on the simulated GPU. */
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { measureProcesses, type Settings } from '../../native/child.js';
import { durationOf, type Recorded, type RecordedCall } from '../../native/record.js';
import { COLD_READINGS } from '../../native/recorded-starts.js';
import { type Estimate, expectRecovered, type Truth } from '../../native/recovered.js';

interface StepRow {
  step: string;
  valueMs: number;
  ci95: [number, number] | null;
}

const ofMs = ({ valueMs, ci95 }: StepRow): Estimate => ({ value: valueMs, ci95 });
async function discovery(iterations: number, sim: Settings) {
  const { results, processes } = await measureProcesses([['measureGpuDiscovery', { iterations }]], { sim });
  const passes = processes.map(passesOf).filter((of) => of.length > 1);
  return { result: results[0] as MetricResult, passes };
}

const STEPS = [
  'nvmlInit_v2',
  'nvmlDeviceGetCount_v2',
  'nvmlDeviceGetHandleByIndex_v2',
  'nvmlDeviceGetName',
  'nvmlDeviceGetUUID',
  'nvmlDeviceGetMemoryInfo',
  'nvmlDeviceGetPciInfo_v3',
  'nvmlDeviceGetMigMode',
];

interface Pass {
  recorded: Recorded;
  calls: RecordedCall[];
}

/** A pass begins with nvmlInit_v2 and makes all queries; the process's other NVML calls are not part of one. */
function passesOf(recorded: Recorded): Pass[] {
  const passes: Pass[] = [];
  for (const call of recorded.calls.filter(({ name }) => STEPS.includes(name)))
    if (call.name === 'nvmlInit_v2') passes.push({ recorded, calls: [call] });
    else passes.at(-1)?.calls.push(call);
  return passes.filter(({ calls }) => STEPS.every((step) => calls.some(({ name }) => name === step)));
}

const spent = ({ calls }: Pass, step: string): number =>
  calls.filter(({ name }) => name === step).reduce((total, call) => total + durationOf(call), 0);

function truthOf(passes: readonly Pass[], valueOf: (pass: Pass) => number, calls: number, cold: boolean): Truth {
  const [{ recorded }] = passes as [Pass];
  const moreNs = cold ? COLD_READINGS * recorded.readingNs : 0;
  return recorded.truth(passes.map(valueOf), { samples: passes.length, calls, moreNs, unitNs: 1e6 });
}

describe('START-005', () => {
  interface Details {
    steps: StepRow[];
    warm: { totalMs: { count: number; p99: number | null; p999: number | null }; steps: StepRow[] };
    nvml: { path: string; owner: string; functions: { name: string; intercepted: boolean }[] };
  }

  it('recovers the duration of every step, cold and warm', async () => {
    const { result, passes } = await discovery(12, { nvml_us: 200 });
    const { steps, warm, nvml } = result.details as unknown as Details;
    expect(steps.map(({ step }) => step)).toEqual(STEPS);
    expect(passes).toHaveLength(12);
    const first = passes.map((of) => of[0] as Pass);
    const repeats = passes.flatMap((of) => of.slice(1));
    const whole = ({ calls }: Pass) => (calls.at(-1) as RecordedCall).left - (calls[0] as RecordedCall).entered;
    expectRecovered([
      ['headline', result, truthOf(first, whole, STEPS.length, true)],
      ...steps.map(
        (row) => [`cold ${row.step}`, ofMs(row), truthOf(first, (pass) => spent(pass, row.step), 1, true)] as const,
      ),
      ...warm.steps.map(
        (row) => [`warm ${row.step}`, ofMs(row), truthOf(repeats, (pass) => spent(pass, row.step), 1, false)] as const,
      ),
    ]);
    expect(warm.totalMs).toMatchObject({ count: 1200, p99: expect.any(Number), p999: null });
    expect(nvml).toMatchObject({ path: 'dlsym', function: 'nvmlInit_v2' });
    expect(nvml.owner).toMatch(/libnvidia-ml\.so\.1$/);
    expect(nvml.functions.filter(({ intercepted }) => intercepted)).toEqual([]);
  });

  it('queries every GPU', async () => {
    const { result, passes } = await discovery(1, { nvml_us: 100, devices: 3 });
    expect(result).toMatchObject({ status: 'ok', details: { gpus: 3 } });
    const { warm } = result.details as unknown as Details;
    const repeats = passes.flatMap((of) => of.slice(1));
    expectRecovered(
      warm.steps.map((row) => {
        const calls = /Init|Count/.test(row.step) ? 1 : 3;
        return [row.step, ofMs(row), truthOf(repeats, (pass) => spent(pass, row.step), calls, false)] as const;
      }),
    );
  });
});

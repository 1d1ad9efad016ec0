/** ERR-001: how soon a host is told of a fault, by the record of the fault and of the call that told of it. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { median } from '../../../lib/stats/median.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import type { System } from '../../../lib/systems/system.js';
import { emptyFolder } from '../../native/child.js';
import { environment, environmentUnder, measured as measureMetricOn } from '../../native/measured.js';
import { recordedByProcess } from '../../native/record.js';
import { onOneProcessor } from '../../processors.js';
import { undisturbed, undisturbedRecord } from '../../undisturbed.js';

const layer = join(emptyFolder(), 'lazy-layer.so');
beforeAll(() => {
  const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
});

const SET_US = 450;

const measureOnce = (system: System, iterations: number) => measureMetricOn('ERR-001', system, { iterations, seed: 1 });
const measured = (system: System) =>
  undisturbed(
    () => measureOnce(system, 1),
    (result) => [result],
  );

interface Row {
  fault: string;
  wait: string;
  latencyUs: number | null;
  codes: string[];
}
const rowsOf = ({ details }: MetricResult) => details.detections as Row[];

/** From a kernel's first instruction, which notes the time, until the last call of the name returned, in us. */
function recorded(record: string, kernel: string, call: string): number[] {
  return recordedByProcess(record).flatMap((process) => {
    const fault = process.named('cuLaunchKernel').find(({ kernel: name }) => name === kernel.slice(0, 15));
    const told = process.named(call).at(-1);
    return fault && told && told.left > fault.left ? [(told.left - fault.begins) / 1e3] : [];
  });
}

/** Readings of the clock around the call, and what the clocks' mapping leaves on a busy machine. */
const TOLERANCE_US = 8;

describe.skipIf(onOneProcessor('ERR-001, whose host and simulated device have to run at once'))('ERR-001', () => {
  it('finds when the host was told of each fault, and by which code', async () => {
    const { result, record } = await undisturbedRecord((folder) =>
      measureOnce(environmentUnder(null, `fault_us=${SET_US}`, folder), 2),
    );
    expect(result.status).toBe('ok');
    expect(rowsOf(result).map(({ fault, codes }) => [fault, ...codes])).toEqual([
      ['illegal address', 'CUDA_ERROR_ILLEGAL_ADDRESS (700)'],
      ['misaligned access', 'CUDA_ERROR_MISALIGNED_ADDRESS (716)'],
      ['trap', 'CUDA_ERROR_LAUNCH_FAILED (719)'],
      ['device assert', 'CUDA_ERROR_ASSERT (710)'],
      ['illegal address, waited for', 'CUDA_ERROR_ILLEGAL_ADDRESS (700)'],
    ]);
    // The process that waits asks nothing.
    const truth = recorded(record, 'gvb_out_of_bounds', 'cuStreamQuery');
    expect(truth).toHaveLength(2);
    expect(Math.abs((result.value as number) - median(truth).value)).toBeLessThan(TOLERANCE_US);
    expect(result.value).toBeGreaterThan(SET_US - TOLERANCE_US);
    const [trap] = recorded(record, 'gvb_trap', 'cuStreamQuery') as [number];
    expect(Math.abs((rowsOf(result)[2]?.latencyUs as number) - trap)).toBeLessThan(TOLERANCE_US);
  });

  it.each([
    ['another code', 'fail=cuStreamQuery:999@1', 'CUDA_ERROR_UNKNOWN (999)'],
    ['no end', 'fail=cuStreamQuery:600@1', 'no error within 1 s'],
  ])('has no value where the driver answers with %s', async (_, sim, said) => {
    const result = await measured(environmentUnder(null, sim));
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toBe(`the host is told of error 700: ${said}`);
    expect(rowsOf(result)[0]).toMatchObject({ latencyUs: null, codes: [said] });
    // The row of the host that waits is not affected.
    expect(rowsOf(result).at(-1)?.latencyUs).not.toBeNull();
  });

  it('has no value under a layer that does not launch the faulty kernel', async () => {
    const lazy = { LD_PRELOAD: layer, GVB_TEST_LAZY: 'kernel=gvb_out_of_bounds' };
    const system = environmentSystem({ ...environment(null), ...lazy });
    const result = await measured(system);
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toBe('every kernel noted when it failed: 3 of 5');
  });
});

/** SCHED-004: how long small kernels waited beside the kernels of another process, by the card's own record. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import {
  type PreemptionPlan,
  preemptionLatencyBy,
} from '../../../lib/metrics/scheduling/sched-004-preemption-latency.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { median } from '../../../lib/stats/median.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder } from '../../native/child.js';
import { environment } from '../../native/measured.js';
import { recordedByProcess } from '../../native/record.js';
import { onOneProcessor } from '../../processors.js';
import { undisturbedRecord } from '../../undisturbed.js';

const layer = join(emptyFolder(), 'lazy-layer.so');
beforeAll(() => {
  const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
});

const PLAN: PreemptionPlan = {
  rows: [4, 10, 20, 40].map((kernelMs) => ({ kernelMs, queued: 1 })),
  windowMs: 300,
  series: 1,
};

const measureOnce = (env: NodeJS.ProcessEnv, plan = PLAN) =>
  measureMetric(
    { ...metricNamed('SCHED-004'), measure: preemptionLatencyBy(plan) },
    { simulate: true, tier: 'quick', seed: 1 },
    { system: environmentSystem(env) },
  );

/** A fifth of the tolerance below. */
const MOST_RESIDUAL_NS = 20_000;

/** `disturbed`: why a result shows that other programs kept a process from its turns; null if it does not. */
const measured = (sim: string, plan = PLAN, disturbed: (result: MetricResult) => string | null = () => null) =>
  undisturbedRecord(
    (record) => measureOnce(environment(null, sim, record), plan),
    ({ result }) => {
      const residualNs = result.details.mappingResidualNs as number;
      return residualNs > MOST_RESIDUAL_NS ? `the clocks are mapped to ${residualNs.toFixed(0)} ns` : disturbed(result);
    },
  );

interface Row {
  kernelMs: number;
  probes: number;
  met: number;
  p50Ms: number;
  worstMs: number;
}
interface OwnRow {
  p50Ms: number;
}
interface Fit {
  queued: number;
  p50: { aMs: number; b: number };
  worst: { aMs: number; b: number };
}
const rowsOf = ({ details }: MetricResult) => details.kernels as Row[];
const fitOf = ({ details }: MetricResult) => (details.fits as Fit[])[0] as Fit;

const victimOf = (record: string) =>
  recordedByProcess(record).find(
    ({ calls }) =>
      calls.some(({ kernel }) => kernel === 'gvb_occupy') && !calls.some(({ kernel }) => kernel === 'gvb_load'),
  );

/** Waits, in ms, of the small kernels that waited for at least a part of a slice. */
function waits(record: string, leastMs: number): number[] {
  const stamps =
    victimOf(record)
      ?.named('cuLaunchKernel')
      .filter(({ kernel }) => kernel === 'gvb_stamp') ?? [];
  return stamps.map(({ begins, entered }) => (begins - entered) / 1e6).filter((ms) => ms >= leastMs);
}

/** The small kernels beside kernels of their own process: how many of those ran when they began. */
function ownProbes(record: string) {
  const calls = victimOf(record)?.named('cuLaunchKernel') ?? [];
  const holds = calls.filter(({ kernel }) => kernel === 'gvb_occupy');
  const [from, to] = [holds[0]?.begins ?? 0, holds.at(-1)?.entered ?? 0];
  const stamps = calls.filter(({ kernel, entered }) => kernel === 'gvb_stamp' && entered > from && entered < to);
  return stamps.map(({ begins: began }) => holds.filter(({ begins, ends }) => begins < began && began < ends).length);
}

/** A process that is kept from the processor for a while misses its turns: half of a row's waits are another slice long. */
function differingRows(result: MetricResult): string | null {
  const waited = rowsOf(result).map(({ p50Ms }) => p50Ms);
  return Math.max(...waited) - Math.min(...waited) > 2 * TOLERANCE_MS ? `the rows wait ${waited.join(', ')} ms` : null;
}

/** Tolerance for delays of a busy machine between the call and the driver, and for the error of the clock mapping. */
const TOLERANCE_MS = 0.1;

const oneProcessor = onOneProcessor('the delays of SCHED-004, whose host and simulated device have to run at once');

describe.skipIf(oneProcessor)('SCHED-004', () => {
  it('finds the wait for a time slice, which does not grow with the kernels', async () => {
    const { result, record } = await measured('timeslice_us=1700', PLAN, differingRows);
    expect(result.status).toBe('ok');
    const truth = waits(record, 0.85);
    expect(truth.length).toBeGreaterThan(20);
    for (const { p50Ms } of rowsOf(result)) expect(Math.abs(p50Ms - median(truth).value)).toBeLessThan(TOLERANCE_MS);
    const { p50Ms: aloneMs } = result.details.alone as { p50Ms: number };
    expect(Math.abs((result.value as number) + aloneMs - median(truth).value)).toBeLessThan(TOLERANCE_MS);
    expect(Math.abs(fitOf(result).p50.b)).toBeLessThan(0.01);
    // With equal priority a small kernel waits for the kernel that runs and for the one that waits; else for the first.
    expect(result.details.ownKernels).toMatchObject([
      { priority: 'equal', cardFull: true },
      { priority: 'highest beside lowest', cardFull: true },
    ]);
    const [equal, highest] = (result.details.ownKernels as OwnRow[]).map(({ p50Ms }) => p50Ms) as [number, number];
    expect(equal).toBeGreaterThan(10);
    expect(highest).toBeLessThan(10);
    const own = ownProbes(record);
    expect(own.length).toBeGreaterThan(20);
    expect(own.filter((beside) => beside > 0)).toEqual([]);
  });

  it('finds a card that passes on only when a kernel is over: the worst wait is a kernel', async () => {
    const { result, record } = await measured('turns_end=1');
    expect(result.status).toBe('ok');
    const { worst } = fitOf(result);
    // Each of some twenty waits is for the rest of a kernel, so the longest is for nearly a whole kernel.
    expect(worst.b).toBeGreaterThan(0.6);
    expect(worst.b).toBeLessThan(1.1);
    const longest = Math.max(...waits(record, 0));
    expect(Math.abs(Math.max(...rowsOf(result).map(({ worstMs }) => worstMs)) - longest)).toBeLessThan(TOLERANCE_MS);
  });

  it('launches at every moment of a kernel that it waits for', async () => {
    const plan = { ...PLAN, rows: [{ kernelMs: 10, queued: 1 }], windowMs: 600 };
    const { result, record } = await measured('turns_end=1', plan);
    expect(result.status).toBe('ok');
    const truth = waits(record, 0.5);
    expect(truth.length).toBeGreaterThan(15);
    // Four tenths of a uniform wait; none if the next launch always comes about a kernel's length after the last wait.
    const middle = truth.filter((ms) => ms > 3 && ms < 7);
    expect(middle.length / truth.length).toBeGreaterThan(0.15);
  });

  it('finds no wait where the processes run concurrently', async () => {
    const { result } = await measured('mps=1');
    expect(result.status).toBe('ok');
    for (const { p50Ms } of rowsOf(result)) expect(p50Ms).toBeLessThan(TOLERANCE_MS);
  });
});

it('SCHED-004 has no value where the other process was not on the card', async () => {
  const lazy = { LD_PRELOAD: layer, GVB_TEST_LAZY: 'kernel=gvb_load' };
  const result = await measureOnce({ ...environment(null), ...lazy });
  expect(result).toMatchObject({ status: 'invalid', value: null });
});

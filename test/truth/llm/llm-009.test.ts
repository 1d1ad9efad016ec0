/** LLM-009 on the simulated card: its steps match the record, alone and beside a co-tenant. */
import { mean, quantileSorted } from 'simple-statistics';
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { type BatchingPlan, dynamicBatchingBy } from '../../../lib/metrics/llm/llm-009-dynamic-batching.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { median } from '../../../lib/stats/median.js';
import type { System } from '../../../lib/systems/system.js';
import { metricNamed } from '../../metric-named.js';
import { environmentUnder } from '../../native/measured.js';
import { type RecordedCall, recordedByProcess } from '../../native/record.js';
import { medianWithin } from '../../native/recovered.js';
import { undisturbedRecord } from '../../undisturbed.js';

const LAYERS = 4;
/** How many steps may be interrupted outside the recorded calls. */
const BESIDE = 3;
const PLAN: BatchingPlan = {
  steps: 400,
  coTenants: 1,
  togetherMs: 600,
  sizes: { n: 512, k: 512, layers: LAYERS },
};
/** Numbers of steps before the counted ones: warm-up steps, and those that measure the capacity. */
const [WARM, CAPACITY] = [5, 25];
/** Layers of 256 us. */
const CARD = 'dram_gbs=2';

const batching = (system: System, plan: BatchingPlan = {}) =>
  measureMetric(
    { ...metricNamed('LLM-009'), measure: dynamicBatchingBy({ ...PLAN, ...plan }) },
    { simulate: true, seed: 3 },
    { system },
  );

interface Row {
  coTenants: number;
  cv: number;
  ci95: [number, number] | null;
  steps: number;
  meanBatch: number;
  stepP50Ms: number;
  stepP99Ms: number;
  queueP50Us: number;
  arrivalsPerSecond: number;
  offered: number;
  served: number;
}
const rowsOf = ({ details }: MetricResult) => details.rows as [Row, Row];

/** The time of each step in ms: from its first launch to the end of the wait after its last one. */
function stepsIn(calls: readonly RecordedCall[]): number[] {
  const steps: number[] = [];
  let launches: RecordedCall[] = [];
  for (const call of calls)
    if (call.kernel.startsWith('gvb_skinny')) launches.push(call);
    else if (call.name === 'cuStreamSynchronize' && launches.length > 0) {
      expect(launches).toHaveLength(LAYERS);
      steps.push((call.left - (launches[0] as RecordedCall).entered) / 1e6);
      launches = [];
    }
  return steps;
}

const cvOf = (steps: readonly number[]): number => {
  const { value } = median(steps);
  return Math.sqrt(mean(steps.map((ms) => (ms / value - 1) ** 2)));
};

describe('LLM-009', () => {
  it('publishes the variation of the recorded steps', async () => {
    const { result, record } = await undisturbedRecord((folder) =>
      batching(environmentUnder(null, `${CARD},recorded=cuLaunchKernel+cuStreamSynchronize`, folder), { mostBatch: 1 }),
    );
    expect(result).toMatchObject({ status: 'ok', processes: 1, details: { load: 0.7, mostBatch: 1 } });
    const [alone, beside] = rowsOf(result);
    const bySteps = recordedByProcess(record)
      .map(({ calls }) => stepsIn(calls))
      .sort((a, b) => b.length - a.length);
    const [victim] = bySteps as [number[]];
    const own = victim.slice(WARM + CAPACITY, WARM + CAPACITY + alone.steps);
    // Sequences that waited when the last step began are served too.
    expect(alone.steps).toBeGreaterThanOrEqual(PLAN.steps as number);
    expect(alone).toMatchObject({ coTenants: 0, served: alone.steps });
    expect(alone.stepP50Ms / median(own).value).toBeCloseTo(1, 2);
    // Steps include the time between the calls, which is not recorded: a preemption there makes a step longer than its
    // record. Three steps may then have other ranks, and three blocks of the interval.
    const sorted = own.toSorted((a, b) => a - b);
    expect(alone.stepP99Ms).toBeGreaterThan(0.98 * quantileSorted(sorted, 0.99));
    expect(alone.stepP99Ms).toBeLessThan(1.05 * (sorted[Math.ceil(0.99 * sorted.length) - 1 + BESIDE] as number));
    const [value, recorded] = [result.value as number, cvOf(own)];
    expect(value).toBeGreaterThan(0.95 * recorded - 0.01);
    // On a busy machine steps may depend on each other so much that there is none.
    if (alone.ci95) {
      expect(alone.ci95[0]).toBeLessThan(1.05 * recorded + 0.01);
      expect(value).toBeGreaterThan(alone.ci95[0]);
      expect(value).toBeLessThan(alone.ci95[1]);
    }
    expect(beside.coTenants).toBe(1);
    const shared = victim.slice(2 * WARM + CAPACITY + alone.steps);
    // One of the two may begin late, so fewer steps lie in their common time.
    expect(beside.steps).toBeLessThanOrEqual(shared.length);
    expect(beside.steps).toBeGreaterThan(0.5 * shared.length);
    const [least, most] = medianWithin(shared, beside.steps);
    expect(beside.stepP50Ms).toBeGreaterThan(0.95 * least);
    expect(beside.stepP50Ms).toBeLessThan(1.05 * most);
  });

  it('offers the stated load, in batches of waiting sequences', async () => {
    // A busy machine leaves so many batch sizes that each has few steps; the rows still show the offered load.
    const result = await batching(environmentUnder(null, CARD));
    const [alone, beside] = rowsOf(result);
    const capacity = result.details.capacityPerSecond as number;
    expect(alone.arrivalsPerSecond).toBeCloseTo(0.7 * capacity, 6);
    expect(beside.arrivalsPerSecond).toBeCloseTo(0.35 * capacity, 6);
    const expected = (beside.arrivalsPerSecond * (PLAN.togetherMs as number)) / 1e3;
    expect(Math.abs(beside.offered - expected)).toBeLessThan(5 * Math.sqrt(expected));
    expect(alone.served).toBe(alone.offered);
    expect(alone.meanBatch * alone.steps).toBeCloseTo(alone.served, 6);
    expect(alone.queueP50Us).toBeGreaterThan(0);
  });

  it('is unsupported with less than 512 MiB', async () => {
    const result = await batching(environmentUnder(null, 'memory_mib=900'), { coTenants: 0 });
    expect(result).toMatchObject({ status: 'unsupported', value: null });
  });
});

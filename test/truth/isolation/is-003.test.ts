/** IS-003 finds what limits of known effect let through, for each load shape, and how they work. */
import { mean } from 'simple-statistics';
import { describe, expect, it } from 'vitest';
import { computeLimitBy, type LimitPlan } from '../../../lib/metrics/isolation/is-003-sm-utilization-accuracy.js';
import { type Swings, swingsOf } from '../../../lib/metrics/isolation/shared/swings.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { metricNamed } from '../../metric-named.js';
import {
  freeShares,
  limitedSystem,
  type LimitedSystem,
  recordedLoads,
  trueShares,
  trueSharesAs,
} from '../../native/limited.js';
import { measured, truthOutside } from '../../native/measured.js';

const BIN_MS = 100;
/** Numbers of bins left out at tier quick: for the headline, and for the other shapes. */
const DROP_BINS = [10, 1];

interface Row {
  smPercent: number;
  shape: string;
  achievedPercent: number;
  accuracyPercent: number;
  multiprocessorsPercent: number;
  mechanism: { name: string; evidence: string };
  swings: Swings | null;
  nvml: { gpuPercent: number | null; processPercent: number | null; readings: number; reason?: string };
}
interface Shares {
  name: string;
  percent: number[];
}

const rowsOf = ({ details }: MetricResult) => details.limits as Row[];
const rowOf = (result: MetricResult, shape = 'kernels back to back') =>
  rowsOf(result).find((row) => row.shape === shape) as Row;

async function measure(layer: Parameters<typeof limitedSystem>[0]) {
  const limited = await limitedSystem(layer);
  return { result: await measured('IS-003', limited.system), ...limited };
}

/** Compares every row and every bin with the record; the shapes run in the order of the rows. */
function expectRecorded(result: MetricResult, { record }: Pick<LimitedSystem, 'record'>): void {
  const [free, limited] = recordedLoads(record);
  const shares = result.details.shares as Shares[];
  expect(limited).toHaveLength(rowsOf(result).length);
  for (const [i, free1] of freeShares(free ?? []).entries()) {
    const seen = shares[i]?.percent ?? [];
    const { percent, tolerance } = trueSharesAs(seen, limited?.[i] ?? [], free1, BIN_MS);
    expect(seen).toHaveLength(percent.length);
    // Shares are published to a tenth of a per cent.
    for (const [bin, share] of seen.entries())
      expect(Math.abs(share - (percent[bin] ?? 0))).toBeLessThan(tolerance + 0.05);
    const kept = percent.slice(i === 0 ? DROP_BINS[0] : DROP_BINS[1]);
    const { smPercent, achievedPercent, accuracyPercent } = rowsOf(result)[i] as Row;
    // A host that launches more slowly than its kernels run has no whole bin; the share then covers the whole load.
    const whole = (100 * (freeShares([limited?.[i] ?? []])[0] as number)) / free1;
    const achieved = kept.length > 0 ? mean(kept) : whole;
    expect(Math.abs(achievedPercent - achieved)).toBeLessThan(tolerance / Math.max(1, kept.length) + 0.01);
    expect(accuracyPercent).toBeCloseTo(100 * (1 - Math.abs(achievedPercent - smPercent) / smPercent), 6);
  }
  expect(result.value).toBe(rowOf(result).accuracyPercent);
}

/**
 * The tenant's share of the time in a row. Shares are relative to the work without a limit: if the machine stopped the
 * host before it had launched that work, the work is less and every share is higher, as the record shows.
 */
function ofTheTime(result: MetricResult, { record }: Pick<LimitedSystem, 'record'>, shape?: string): number {
  const row = rowOf(result, shape);
  const free = freeShares(recordedLoads(record)[0] ?? [])[rowsOf(result).indexOf(row)];
  return row.achievedPercent * (free ?? Number.NaN);
}

/** Deviation from a layer's limit: one kernel more or less per second, and the ends of its periods. */
const LAYER_PERCENT = 0.6;

describe('IS-003', () => {
  it('finds a limit that holds, and the period of its tokens', async () => {
    const { result, record } = await measure({ interpose: 'share={smPercent}@20ms' });
    expect(result).toMatchObject({ status: 'ok', ci95: null, processes: 2 });
    expect(result.details.reference).toBe('the same tenant without a limit');
    expectRecorded(result, { record });
    expect(Math.abs(ofTheTime(result, { record }) - 30)).toBeLessThan(LAYER_PERCENT);
    expect(result.violations).toBeUndefined();
    // There is no coordinator here that sees the card from outside.
    for (const { nvml } of rowsOf(result))
      expect(nvml).toEqual({
        ...{ gpuPercent: null, processPercent: null, readings: 0 },
        reason: 'the coordinator sees the GPU through the layer',
      });
    expect(rowOf(result).mechanism).toMatchObject({
      name: 'token bucket',
      evidence: expect.stringContaining('every 20.0 ms'),
    });
  });

  it('finds a limit that lets twice as much through', async () => {
    const { result, record } = await measure({ interpose: 'share=60@20ms' });
    expectRecorded(result, { record });
    // The layer's claim has no effect: it cannot be started without its limit.
    expect(result.details.reference).toBe('a process without the layer');
    expect(Math.abs(ofTheTime(result, { record }) - 60)).toBeLessThan(LAYER_PERCENT);
    expect(result.value).toBeLessThan(15);
    const share = rowOf(result).achievedPercent.toFixed(1);
    expect(result.violations).toEqual([
      {
        detail: `${share} % of the work without a limit under a limit of 30 % (kernels back to back, 1 to 3 s after the first launch)`,
      },
    ]);
  });

  it('finds a limit that applies only to large grids', async () => {
    const { result, record } = await measure({ interpose: 'share={smPercent}@20ms,sharegrid=100000' });
    expectRecorded(result, { record });
    const by = (names: boolean) => rowsOf(result).filter(({ mechanism }) => (mechanism.name === 'none') === names);
    expect(by(true).map(({ shape }) => shape)).toEqual(
      expect.arrayContaining([
        'kernels back to back',
        'one kernel, then a wait',
        'small kernels',
        'cooperative kernels',
      ]),
    );
    expect(Math.abs(ofTheTime(result, { record }, 'many small blocks') - 30)).toBeLessThan(1.5);
    expect(result.value).toBeLessThan(0);
  });

  it.each([
    ['a delay of each launch', 'share={smPercent}', 'delay per launch'],
    ['long phases', 'share={smPercent}@500ms,sharefrom=1ms', 'exclusive phases'],
  ])('names %s', async (_, interpose, name) => {
    const { result, record } = await measure({ interpose, smPercent: 50 });
    expectRecorded(result, { record });
    expect(rowOf(result).mechanism.name).toBe(name);
  });

  it('names a partition, which shows in multiprocessors and not in idle time', async () => {
    const env = { CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: '{smPercent}' };
    const { system, settings, record } = await limitedSystem({ env, smPercent: 50, sim: 'mps=1' });
    const result = await measured('IS-003', system, {}, await truthOutside(settings));
    expect(rowOf(result)).toMatchObject({ multiprocessorsPercent: 50, mechanism: { name: 'partition' } });
    // The tenant runs all of the time, but its kernels take twice as long.
    expect(Math.abs(ofTheTime(result, { record }) - 50)).toBeLessThan(0.5);
    expect(result.value).toBe(rowOf(result).accuracyPercent);
    for (const { nvml } of rowsOf(result)) {
      expect(nvml).toMatchObject({ processPercent: null, reason: 'NVML listed no utilisation of the process' });
      expect(nvml.gpuPercent).toBeGreaterThanOrEqual(0);
      expect(nvml.gpuPercent).toBeLessThanOrEqual(100);
      expect(nvml.readings).toBeGreaterThan(0);
    }
  });

  it('finds when a limit begins to act, and the period of its oscillation', async () => {
    // The tenant runs in every second interval of 300 ms of device time.
    const { result, record } = await measure({ interpose: 'share={smPercent}@20ms,sharefrom=600ms,shareswings=300ms' });
    expectRecorded(result, { record });
    const [, limited] = recordedLoads(record);
    const [free] = freeShares(recordedLoads(record)[0] ?? []);
    const truth = swingsOf(trueShares(limited?.[0] ?? [], free as number, BIN_MS).percent, 30, BIN_MS);
    const { swings } = rowOf(result);
    if (!swings || !truth) throw new Error('The load had no whole bin.');
    // A share near the border may fall within it in one series, and one bin later in the other.
    for (const what of ['onsetMs', 'periodMs'] as const)
      expect(Math.abs((swings[what] ?? Number.NaN) - (truth[what] ?? Number.NaN))).toBeLessThanOrEqual(BIN_MS);
    expect(Math.abs((truth.periodMs ?? 0) - 600)).toBeLessThanOrEqual(BIN_MS);
    expect(Math.abs(swings.lowPercent - truth.lowPercent)).toBeLessThan(5);
  });

  it('reports no limit for a layer that only claims one', async () => {
    const { result, record } = await measure({});
    expectRecorded(result, { record });
    for (const { mechanism } of rowsOf(result)) expect(mechanism.name).toBe('none');
    // The tenant runs all of the time, under a limit of 30 %.
    expect(Math.abs(ofTheTime(result, { record }) - 100)).toBeLessThan(0.15);
  });

  it('has a row for each of several limits and lengths of kernels at tier thorough', async () => {
    const { system, record } = await limitedSystem({ interpose: 'share={smPercent}@20ms' });
    const plan: LimitPlan = {
      headline: { freeMs: 100, dropMs: 100, keepMs: 400 },
      waves: { freeMs: 50, dropMs: 0, keepMs: 100 },
      others: { freeMs: 50, dropMs: 0, keepMs: 100 },
      lengthsMs: [0.1, 10],
      sweeps: true,
    };
    const definition = { ...metricNamed('IS-003'), measure: computeLimitBy(plan) };
    const result = await measureMetric(definition, { simulate: true }, { system });
    expect(result).toMatchObject({ status: 'ok', processes: 5 });
    const rows = rowsOf(result);
    const shapes = [...new Set(rows.map(({ shape }) => shape))];
    expect(shapes).toHaveLength(10);
    expect(shapes.slice(-2)).toEqual(['kernels of 0.1 ms', 'kernels of 10 ms']);
    expect(rows.map(({ smPercent, shape }) => [smPercent, shape])).toEqual(
      [10, 25, 50, 75].flatMap((smPercent) => shapes.map((shape) => [smPercent, shape])),
    );
    const [free, ...limited] = recordedLoads(record);
    const [freeShare] = freeShares(free ?? []);
    const headlines = rows.filter(({ shape }) => shape === 'kernels back to back');
    for (const [i, { achievedPercent }] of headlines.entries()) {
      const { percent, tolerance } = trueShares(limited[i]?.[0] ?? [], freeShare as number, BIN_MS);
      const kept = percent.slice(1);
      expect(Math.abs(achievedPercent - mean(kept))).toBeLessThan(tolerance / kept.length + 0.01);
    }
    expect(result.value).toBeCloseTo(mean(headlines.map(({ accuracyPercent }) => accuracyPercent)), 6);
  });

  it('is unsupported without a limit', async () => {
    const { result } = await measure({ smPercent: 100 });
    expect(result).toMatchObject({ status: 'unsupported', value: null, reason: 'no compute limit is set' });
  });
});

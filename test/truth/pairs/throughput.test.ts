/** OH-010 on the simulated GPU: recovers a slow-down of known size, and reports a loss only relative to native. */
import { mean, sum } from 'simple-statistics';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import * as bench from '../../../lib/index.js';
import { throughputDegradation } from '../../../lib/metrics/overhead/oh-010-throughput-degradation.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { FEWEST_EFFECTIVE } from '../../../lib/stats/long-run.js';
import { median } from '../../../lib/stats/median.js';
import { measure } from '../../native/child.js';
import { interruptedNs, type Recorded, type RecordedCall, recordedByProcess } from '../../native/record.js';
import { measureNoting } from '../../noting-system.js';
import { ownRegion, temporaryFolder } from '../../temporary.js';

interface Details {
  unitsPerSecond: number;
  rows: { limits: string; unitsPerSecond: number; unitMs: number; unitCi95: [number, number] | null; units: number }[];
}
const detailsOf = (result: MetricResult | undefined) => result?.details as unknown as Details;

const settings = `region=${ownRegion('throughput')},init_ms=1,context_ms=1`;

beforeAll(() => {
  vi.stubEnv('GVB_SIM', settings);
});
afterAll(() => vi.unstubAllEnvs());

const DELAY_US = 300;
/** A delay is never shorter than configured, except for the calibration of its counter. */
const SHORTEST = 0.98;
/** Tolerance in percentage points: time between the units' records may lower either arm's rate by some per cent. */
const LOSS_POINTS = 5;

/**
 * The recorded units of a process: from the first factor's copy to the third result's, between two clearings of the
 * outputs. An audited unit reads more, and its time does not count.
 */
function unitsOf(recorded: Recorded): RecordedCall[][] {
  const units: RecordedCall[][] = [];
  for (const call of recorded.calls)
    if (call.name === 'cuMemcpyHtoD_v2') {
      if (units.at(-1)?.at(-1)?.name === 'cuMemcpyHtoD_v2') units.at(-1)?.push(call);
      else units.push([call]);
    } else if (/^cuMemcpyDtoH|^cuLaunchKernel$/.test(call.name)) units.at(-1)?.push(call);
  return units.filter(
    (unit) =>
      unit.some(({ kernel }) => kernel === 'gvb_gemm') &&
      unit.filter(({ name }) => name === 'cuMemcpyDtoH_v2').length === 3,
  );
}

const spanOf = (unit: readonly RecordedCall[]): number =>
  (unit.at(-1) as RecordedCall).left - (unit[0] as RecordedCall).entered;

/** Lower bound of the delays in a unit; none for native. */
const delayedNs = (unit: readonly RecordedCall[]): number =>
  1e3 * DELAY_US * SHORTEST * unit.filter(({ name, hook }) => hook && name === 'cuLaunchKernel').length;

describe('OH-010', () => {
  it('recovers the throughput lost by a known delay of every launch', async () => {
    const record = temporaryFolder('record');
    vi.stubEnv('GVB_SIM', `${settings},record=${record}`);
    const layer = `env.LD_PRELOAD=${interposerLibrary()},env.GVB_INTERPOSE=cuLaunchKernel=+${DELAY_US}us,env.GVB_INTERPOSE_RECORD=${record}`;
    const { effects, systems, plan } = await bench.compareSystems({
      metrics: ['OH-010'],
      systems: ['native', `custom:name=slow,${layer}`],
      rounds: 2,
      tier: 'quick',
      simulate: true,
    });
    vi.stubEnv('GVB_SIM', settings);
    const working = recordedByProcess(record).filter((process) => unitsOf(process).length > 0);
    // Each arm's units come from one process: the first system's and the second's, in the order of each round.
    const arms = plan.order.flatMap((names, round) =>
      names.map((name) => detailsOf(systems[plan.systems.indexOf(name)]?.[round]?.metrics[0]).rows[0]),
    );
    expect(working).toHaveLength(arms.length);
    const rates = working.map((process, i) => {
      const { unitMs, unitCi95, units, unitsPerSecond } = arms[i] as Details['rows'][number];
      // The first ones are warm-up. A unit is some seventy calls, between which the host prepares the next one.
      const counted = unitsOf(process).slice(-units);
      const recorded = counted.map(spanOf);
      // On a slow machine there are too few units for an interval, and neighbouring ones depend on each other.
      if (units < FEWEST_EFFECTIVE) expect(unitCi95).toBeNull();
      const toleranceNs = 0.01 * median(recorded).value + interruptedNs(recorded);
      expect(Math.abs(1e6 * unitMs - median(recorded).value)).toBeLessThan(toleranceNs);
      const recordedRate = (1e9 * units) / sum(recorded);
      // A unit never ends before its record; other programs may delay it before its first call and after its last.
      expect(unitsPerSecond / recordedRate).toBeLessThan(1.01);
      expect(unitsPerSecond / recordedRate).toBeGreaterThan(0.9);
      expect(counted.filter((unit) => spanOf(unit) < delayedNs(unit))).toEqual([]);
      return { recordedRate, delays: counted.some((unit) => delayedNs(unit) > 0) };
    });
    const lost = systems[1]?.map(({ metrics }, round) => {
      const native = detailsOf(systems[0]?.[round]?.metrics[0]).unitsPerSecond;
      return 100 * (1 - detailsOf(metrics[0]).unitsPerSecond / native);
    }) as [number, number];
    expect(effects).toHaveLength(1);
    expect(effects[0]).toMatchObject({ metric: 'OH-010', ratio: null, rounds: 2 });
    expect(effects[0]?.difference).toBeCloseTo((lost[0] + lost[1]) / 2, 6);
    // The loss depends on the machine's speed in either arm, so it is compared with the recorded loss.
    expect(rates.map(({ delays }) => delays)).toEqual(
      plan.order.flatMap((names) => names.map((name) => name !== 'native')),
    );
    const recordedLoss = plan.order.map((names, round) => {
      const rateOf = (native: boolean) =>
        rates[2 * round + names.findIndex((name) => (name === 'native') === native)]?.recordedRate ?? Number.NaN;
      return 100 * (1 - rateOf(false) / rateOf(true));
    });
    expect(Math.abs((effects[0]?.difference ?? Number.NaN) - mean(recordedLoss))).toBeLessThan(LOSS_POINTS);
  });

  it('is unsupported alone, with its rate of units', async () => {
    const [result] = await measure([['measureThroughput']], { sim: { init_ms: 1, context_ms: 1 } });
    expect(result).toMatchObject({ status: 'unsupported', value: null, stats: null });
    expect(result?.reason).toMatch(/^needs a native arm/);
    const { unitsPerSecond, rows } = detailsOf(result);
    expect(rows).toEqual([expect.objectContaining({ limits: 'none', unitsPerSecond })]);
    expect(rows[0]?.units).toBeGreaterThan(0);
  });

  it.each([
    ['cannot be there at once', false],
    ['can', true],
  ])("works without limits where the round's tenant is removed, if two limits %s", async (_, limitsCoexist) => {
    const changes = { limits: () => ({ memoryBytes: null, smPercent: 50 }), limitsCoexist };
    const { asked, measured } = await measureNoting(throughputDegradation, { changes, iterations: 1 });
    const rows = [{ limits: 'none' }, { limits: 'as configured', smPercent: 50 }];
    expect(measured).toMatchObject({ status: 'unsupported', details: { rows } });
    const configured = ['prepare 1', 'reap 1'];
    expect(asked).toEqual(['reap 0', 'between', 'prepare 1 at null', 'reap 1', 'between', 'prepare 0', ...configured]);
  });
});

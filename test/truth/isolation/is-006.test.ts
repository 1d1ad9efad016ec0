/** IS-006 on the simulated card: tenants whose parts add up to more multiprocessors than there are. */
import { describe, expect, it } from 'vitest';
import { computeIsolationBy } from '../../../lib/metrics/isolation/is-006-compute-isolation.js';
import type { Sharing } from '../../../lib/metrics/isolation/shared/sharing.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { median } from '../../../lib/stats/median.js';
import type { Tier } from '../../../lib/results/document.js';
import type { System } from '../../../lib/systems/system.js';
import { metricNamed } from '../../metric-named.js';
import { environmentUnder } from '../../native/measured.js';
import type { RecordedCall } from '../../native/record.js';
import { undisturbed, undisturbedRecord } from '../../undisturbed.js';
import { byDevice, commonBins, type Kernel, kernelsIn, lasted, loadsOf, percentages } from './shares.js';

const BIN_MS = 20;

type Load = RecordedCall[];

/** The trace is long enough to include a tenant whose process starts late on a busy machine. */
function isolation(system: System, durationMs: number, tier: Tier = 'quick') {
  const measure = computeIsolationBy({ durationMs, binMs: BIN_MS, series: 1, traceMs: 200 });
  return measureMetric({ ...metricNamed('IS-006'), measure }, { simulate: true, seed: 1, tier }, { system });
}

/** Kernels per bin, in the bins of blocks during which the neighbours' loads also ran, if any. */
function kernelsABin(blocks: readonly { load: readonly Kernel[]; beside?: readonly Kernel[] }[]): number {
  const parts = blocks.map(({ load, beside }) => {
    const [own, ...others] = [load, ...(beside ? [beside] : [])].map(byDevice) as [Kernel[], ...Kernel[][]];
    const [from, to] = commonBins([own, ...others], BIN_MS * 1e6);
    return { kernels: kernelsIn(own, from, to), bins: (to - from) / (BIN_MS * 1e6) };
  });
  const sum = (of: (part: (typeof parts)[number]) => number) => parts.reduce((all, part) => all + of(part), 0);
  return sum(({ kernels }) => kernels) / sum(({ bins }) => bins);
}

describe('IS-006', () => {
  it('finds what a tenant keeps of an oversubscribed part', async () => {
    const { result, record } = await undisturbedRecord((folder) =>
      isolation(
        percentages(() => 75, '', folder),
        200,
      ),
    );
    expect(result).toMatchObject({ status: 'ok', processes: 2 });
    // The first process measures the whole card; then the tenant has a block alone, two together, and one alone. The
    // other tenant has a block alone before.
    const [, tenant = [], other = []] = loadsOf(record);
    const [alone, together, again, alone2] = tenant as [Load, Load, Load, Load];
    const [, beside, besideAgain] = other as [Load, Load, Load];
    const kernelNs = (load: readonly Kernel[]) => median(load.map(lasted)).value;
    // Each asks for 3/4 of the multiprocessors and gets half of all, so its kernels take 3/2 of the time.
    expect(kernelNs(together) / kernelNs(alone)).toBeCloseTo(1.5, 2);
    const recorded =
      (100 *
        kernelsABin([
          { load: together, beside },
          { load: again, beside: besideAgain },
        ])) /
      kernelsABin([{ load: alone }, { load: alone2 }]);
    // A kernel's work is credited in pieces: at each end of a block, one of about 90 kernels may count more or less.
    expect(Math.abs((result.value as number) - recorded)).toBeLessThan(2);
    expect(result.details.sharing).toMatchObject({ kind: 'blocks of both at once' });
  });

  it('has a row of four tenants at tier thorough', async () => {
    const system = percentages(({ limits }) => limits?.smPercent as number);
    const result = await undisturbed(
      () => isolation(system, 100, 'thorough'),
      (measured) => [measured],
    );
    expect(result.status).toBe('ok');
    expect(result.details.rows).toMatchObject([
      { tenants: 2, limitPercent: 50, interferencePercent: expect.any(Number) },
      { tenants: 4, limitPercent: 25, interferencePercent: null },
    ]);
    const [two] = result.details.rows as { retainedPercent: number }[];
    expect(result.value).toBe(two?.retainedPercent);
    const shares = result.details.shares as { name: string; limitPercent: number }[];
    expect(shares.map(({ limitPercent }) => limitPercent)).toEqual([50, 50, 50, 25, 25, 25, 25, 25]);
  });

  it('has only an unlimited row and the length of a turn if the system sets no limit', async () => {
    const result = await undisturbed(
      () => isolation(environmentUnder(null, 'timeslice_us=3000'), 100),
      (measured) => [measured],
    );
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result.details.rows).toMatchObject([{ tenants: 2, limitPercent: null, entitlementPercent: null }]);
    const { kind, slices, sharedMultiprocessors } = result.details.sharing as Sharing;
    expect({ kind, sharedMultiprocessors }).toEqual({ kind: 'time slices', sharedMultiprocessors: 132 });
    expect(slices?.p50Ms).toBeCloseTo(3, 1);
  });
});

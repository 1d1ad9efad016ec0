/** IS-004 finds when limits of known effect take hold, and publishes no number for one that never does. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limitResponseBy } from '../../../lib/metrics/isolation/is-004-sm-limit-response.js';
import type { LiveChange } from '../../../lib/metrics/isolation/shared/live-change.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import type { System } from '../../../lib/systems/system.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder } from '../../native/child.js';
import { freeShares, limitedSystem, recordedLoads, trueSharesAs } from '../../native/limited.js';
import { measured } from '../../native/measured.js';

const BIN_MS = 20;
const LIMIT = 40;

interface Details {
  settledAfterMs: number | null;
  overshootSmSeconds: number;
  shares: { percent: number[] }[];
}

async function measure(interpose: string | undefined) {
  const { system, record } = await limitedSystem({ ...(interpose !== undefined && { interpose }), smPercent: LIMIT });
  const result = await measured('IS-004', system);
  const [free, limited] = recordedLoads(record);
  const details = result.details as unknown as Details;
  const seen = details.shares[0]?.percent ?? [];
  const truth = trueSharesAs(seen, limited?.[0] ?? [], freeShares(free ?? [])[0] ?? Number.NaN, BIN_MS);
  return { result, details, truth };
}

/** The excess over the limit in the first bins, from the record, and the tolerance of each bin. */
function trueOvershoot(percent: readonly number[], tolerance: number, bins: number): [sum: number, tolerance: number] {
  const above = percent.slice(0, bins).map((share) => Math.max(0, share - LIMIT));
  const smSeconds = ((132 / 100) * BIN_MS) / 1_000;
  // Work that ends after its bin is credited to the next bin: two kernels in total, and one for each bin that straddles
  // the limit.
  return [above.reduce((sum, share) => sum + share, 0) * smSeconds, 3 * tolerance * smSeconds];
}

describe('IS-004', () => {
  it.each([
    ['at once', 'share={smPercent}@20ms', 0],
    ['after 800 ms', 'share={smPercent}@20ms,sharefrom=800ms', 800],
  ])('finds a limit that holds %s', async (_, interpose, fromMs) => {
    const { result, details, truth } = await measure(interpose);
    expect(result).toMatchObject({ status: 'ok', unit: 'ms', processes: 2 });
    expect(result.violations).toBeUndefined();
    for (const [i, share] of details.shares[0]?.percent.entries() ?? [])
      expect(Math.abs(share - (truth.percent[i] ?? Number.NaN))).toBeLessThan(truth.tolerance + 0.05);
    // The average of 500 ms may exceed the limit by 10 %: 33 ms without it. The first bin is preceded by one more.
    const early = (500 * 0.1 * LIMIT) / (100 - LIMIT);
    expect(result.value).toBeGreaterThanOrEqual(Math.max(0, fromMs - early - 2 * BIN_MS));
    expect(result.value).toBeLessThanOrEqual(fromMs + 2 * BIN_MS);
    const [overshoot, tolerance] = trueOvershoot(truth.percent, truth.tolerance, (result.value ?? 0) / BIN_MS);
    expect(Math.abs(details.overshootSmSeconds - overshoot)).toBeLessThan(tolerance);
  });

  it.each([
    ['changes all the time', 'share={smPercent}@20ms,shareswings=700ms', true],
    ['is held to twice as much', 'share=80@20ms', true],
    ['does not exist', undefined, true],
    ['is held to half as much', 'share=20@20ms', false],
  ])('publishes no number for a limit that %s', async (_, interpose, exceeds) => {
    const { result, details, truth } = await measure(interpose);
    expect(result).toMatchObject({ status: 'failed', value: null, stats: null });
    expect(result.reason).toMatch(
      /^> 1 s: the share did not settle within 10 % of the limit of 40 %; in the last second/,
    );
    const [, share] = result.reason?.match(/it was ([\d.]+) %$/) ?? [];
    const violation = `${share} % of the work without a limit under a limit of 40 % (the last of 3.5 s after it was idle)`;
    expect(result.violations).toEqual(exceeds ? [{ detail: violation }] : undefined);
    expect(details.settledAfterMs).toBeNull();
    const [overshoot, tolerance] = trueOvershoot(truth.percent, truth.tolerance, truth.percent.length);
    expect(Math.abs(details.overshootSmSeconds - overshoot)).toBeLessThan(Math.max(tolerance, 0.02 * overshoot));
  });
});

describe('a limit that is changed while the tenant runs', () => {
  const CHANGED = LIMIT / 2;
  const measure = limitResponseBy({ idleMs: 10, horizonMs: 1_000, live: true });

  /** `changeLimit` receives the file that the layer reads before every launch. */
  async function changed(lag: string, changeLimit?: (file: string, smPercent: number) => string | null) {
    const file = join(emptyFolder(), 'share');
    const interpose = `share={smPercent}@20ms,sharefile=${file}${lag}`;
    const { system, record } = await limitedSystem({ interpose, smPercent: LIMIT });
    const change: System['changeLimit'] = (_, smPercent) => Promise.resolve(changeLimit?.(file, smPercent) ?? null);
    if (changeLimit) Object.assign(system, { changeLimit: change });
    const result = await measureMetric({ ...metricNamed('IS-004'), measure }, { simulate: true }, { system });
    expect(result.status).toBe('ok');
    return { details: result.details as unknown as Details & { liveChange: LiveChange }, record };
  }

  const write = (file: string, smPercent: number) => {
    writeFileSync(file, `${smPercent}`);
    return null;
  };

  it.each([
    ['at once', '', 0],
    ['after 600 ms', ',sharelag=600ms', 600],
  ])('is found to hold %s', async (_, lag, fromMs) => {
    const { details, record } = await changed(lag, write);
    const { liveChange, shares } = details;
    expect(liveChange).toMatchObject({ fromPercent: LIMIT, toPercent: CHANGED });
    const [free, limited] = recordedLoads(record);
    const seen = shares[1]?.percent ?? [];
    const truth = trueSharesAs(seen, limited?.[1] ?? [], freeShares(free ?? [])[0] ?? Number.NaN, BIN_MS);
    expect(seen).toHaveLength((1_000 + 2_500) / BIN_MS);
    for (const [i, share] of seen.entries())
      expect(Math.abs(share - (truth.percent[i] ?? Number.NaN))).toBeLessThan(truth.tolerance + 0.05);
    const early = (500 * 0.1 * CHANGED) / (LIMIT - CHANGED);
    expect(liveChange.settledAfterMs).toBeGreaterThanOrEqual(Math.max(0, fromMs - early - 2 * BIN_MS));
    expect(liveChange.settledAfterMs).toBeLessThanOrEqual(fromMs + 2 * BIN_MS);
    expect(liveChange.pauseMs).toBeGreaterThan(0);
  });

  it('has no time if the layer accepts it but keeps the old one', async () => {
    const { details } = await changed('', () => null);
    expect(details.liveChange).toMatchObject({ toPercent: CHANGED, settledAfterMs: null, observedMs: 1_000 });
    expect(details.liveChange.overshootSmSeconds).toBeGreaterThan(0);
  });

  it.each([
    ['refuses it', () => 'only new clients', 'only new clients'],
    [
      'has no way to do so',
      undefined,
      'there is no known way to change a limit of layer (unverified) while a tenant is running',
    ],
  ])('is unsupported, with the reason, where the system %s', async (_, changeLimit, unsupported) => {
    const { details } = await changed('', changeLimit);
    expect(details.liveChange).toEqual({ unsupported });
    expect(details.shares).toHaveLength(1);
  });
});

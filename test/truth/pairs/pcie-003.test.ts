/**
 * PCIE-003: bandwidth of tenants that copy at the same time, compared with the copies that the simulated driver
 * recorded.
 */
import { describe, expect, it } from 'vitest';
import { contentionBy, pcieContention } from '../../../lib/metrics/pcie/pcie-003-contention.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { environmentUnder } from '../../native/measured.js';
import { type Recorded, recordedByProcess } from '../../native/record.js';
import { ownRegion } from '../../temporary.js';
import { type Measured, undisturbed, undisturbedRecord } from '../../undisturbed.js';

const COPY = 16 * 2 ** 20;
/** Slow enough for the host to keep up with, whatever else it does. */
const GBS = 2;
const TIMES = { aloneMs: 120, togetherMs: 300, leads: 40 };
/**
 * Windows of each tenant: alone and together, twice each, among four tenants and then among two; the first also reads
 * the link.
 */
const WINDOWS = [9, 4, 2, 2];
/**
 * Times for tests that compare no rate. Copies of four tenants last 32 ms each, and a window must be several times as
 * long.
 */
const SHORT = { aloneMs: 40, togetherMs: 400, leads: 10 };
/**
 * Tolerance: a tenant reads the clock before its first copy and after its last one. Where it lost the processor there for
 * longer, the measurement is repeated.
 */
const LATE = 0.8;

interface Row {
  direction: string;
  tenants: number;
  aloneGbs: number[];
  gbs: number[];
  aggregateGbs: number;
  impactPercent: number;
}
const rowsOf = ({ details }: MetricResult) => details.rows as Row[];

function contended(sim: string, times: typeof TIMES, record?: string): Promise<MetricResult> {
  const settings = `region=${ownRegion('bus')},pcie_gbs=${GBS},${sim}`;
  const definition = { ...pcieContention, measure: contentionBy(times) };
  const options = { simulate: true, tier: 'quick', seed: 1 } as const;
  return measureMetric(definition, options, { system: environmentUnder(null, settings, record) });
}

/** The rate of each window of one tenant in the card's time; each window begins with pinning memory. */
function windowsOf({ calls }: Recorded): number[] {
  const windows: number[] = [];
  let copies: typeof calls = [];
  const close = () => {
    const [first, last] = [copies[0], copies.at(-1)];
    if (first && last) windows.push((copies.length * COPY) / (last.ends - first.begins));
    copies = [];
  };
  for (const call of calls)
    if (call.name === 'cuMemcpyHtoDAsync_v2' && call.bytes === COPY) copies.push(call);
    else if (call.name === 'cuMemHostAlloc') close();
  close();
  return windows;
}

const mean = (...rates: number[]): number => rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
const ascending = (rates: readonly number[]) => [...rates].sort((a, b) => a - b);

/**
 * Each published rate beside the recorded one. The first tenant's windows: alone, together, together, alone; the same
 * with two tenants; and the copies that keep the link busy while it is read.
 */
function publishedAndRecorded(result: MetricResult, tenants: readonly number[][]): [published: number, rate: number][] {
  const [four, two] = rowsOf(result) as [Row, Row];
  const first = tenants.find((windows) => windows.length > 8) as number[];
  const together = tenants.map((windows) =>
    windows === first ? mean(first[1] as number, first[2] as number) : mean(windows[0] as number, windows[1] as number),
  );
  return [
    [four.aloneGbs[0] as number, mean(first[0] as number, first[3] as number)],
    [two.aloneGbs[0] as number, mean(first[4] as number, first[7] as number)],
    ...ascending(four.gbs).map((rate, i): [number, number] => [rate, ascending(together)[i] as number]),
  ];
}

/** Why this measurement has to be repeated, or null. */
function disturbance({ result, record }: Measured): string | null {
  const tenants = recordedByProcess(record).map(windowsOf);
  const windows = tenants.map(({ length }) => length).sort((a, b) => b - a);
  // Windows are matched in their order, so no release may have been repeated.
  if (windows.join() !== WINDOWS.join()) return `windows: ${windows.join()}, planned ${WINDOWS.join()}`;
  if (result.status !== 'ok') return null;
  const late = publishedAndRecorded(result, tenants).find(([published, rate]) => published < LATE * rate);
  return late ? `${late[0]} GB/s, ${late[1]} while it copied` : null;
}

describe('PCIE-003', () => {
  it('recovers the bandwidth of one tenant and of each of several', async () => {
    const { result, record } = await undisturbedRecord(
      (folder) => contended('recorded=cuMemcpyHtoDAsync_v2+cuMemHostAlloc', TIMES, folder),
      disturbance,
    );
    expect(result.reason).toBeUndefined();
    const [four, two] = rowsOf(result) as [Row, Row];
    expect([four.tenants, two.tenants]).toEqual([4, 2]);
    for (const [published, rate] of publishedAndRecorded(result, recordedByProcess(record).map(windowsOf))) {
      expect(published).toBeLessThanOrEqual(1.001 * rate);
      expect(published).toBeGreaterThanOrEqual(LATE * rate);
    }
    // A tenant has the link to itself where its window does not overlap with the others'.
    expect(four.aggregateGbs).toBeLessThanOrEqual(GBS / LATE);
    expect(result.value).toBeCloseTo(100 * (1 - Math.min(...four.gbs) / (four.aloneGbs[0] as number)), 9);
  });

  it.each([
    ['unsupported where only one tenant fits', 'memory_mib=900', 'unsupported', /^two tenants do not fit: /],
    ['invalid where copies are skipped', 'copy_skip=1', 'invalid', /reported success/],
    [
      'invalid where copies are faster than the link',
      'copy_lazy=1,pcie_gen=1,pcie_width=1',
      'invalid',
      /^no faster than the link: /,
    ],
  ])('is %s', async (_, sim, status, reason) => {
    const result = await undisturbed(
      () => contended(sim, SHORT),
      (found) => [found],
    );
    expect(result).toMatchObject({ status, value: null });
    expect(result.reason).toMatch(reason);
  });
});

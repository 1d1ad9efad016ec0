/**
 * FRAG: a known largest block, allocations that take longer in fragmented memory, memory that is freed or lost; and
 * results that are rejected.
 */
import { describe, expect, it } from 'vitest';
import type { GroundTruth } from '../../../lib/native/ground-truth.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { bracketOf, expectMedianBetween } from '../../native/brackets.js';
import { emptyFolder } from '../../native/child.js';
import { environmentUnder, measured as measuredIn } from '../../native/measured.js';
import { CONTEXT_MIB, type Limited, measuredOutside } from '../../native/memory-limited.js';
import { type Recorded, type RecordedCall, recordedByProcess } from '../../native/record.js';
import { ownRegion } from '../../temporary.js';
import { undisturbedRecord } from '../../undisturbed.js';

const MIB = 2 ** 20;

interface Row {
  path: string;
  turnover: number;
  operations: number;
  blocks: number;
  heldBytes: number;
  freeBytes: number;
  largestBytes: number;
  indexPercent: number;
  probes: number;
  failed?: string;
}
const rowsOf = ({ details }: MetricResult) => details.rows as Row[];
const checkOf = ({ checks }: MetricResult, wanted: string) => checks.find(({ name }) => name === wanted);

const quota = (more = ''): Limited => ({
  memory: '2GiB',
  interpose: `quota=2GiB,context=${CONTEXT_MIB}MiB${more}`,
});
const measured = (of: Limited, sees?: Partial<GroundTruth>) => measuredOutside('FRAG-001', of, sees);

/** The record of the tenant, which allocates. */
function tenantIn(record: string): Recorded {
  const found = recordedByProcess(record).find((process) => process.named('cuMemAlloc_v2').length > 50);
  return found as Recorded;
}

describe('FRAG-001', () => {
  it.each([100, 300])('finds a largest block of %i MiB, in at most 48 attempts', async (largest) => {
    const record = emptyFolder();
    const sim = `region=${ownRegion('largest')},memory_mib=1700,context_mib=100,largest_mib=${largest}`;
    const result = await measuredIn('FRAG-001', environmentUnder(null, sim, record), { seed: 1 });
    const [row] = rowsOf(result) as [Row];
    expect(result).toMatchObject({ status: 'ok', details: { limitBytes: 1700 * MIB } });
    expect(row.largestBytes).toBe(largest * MIB);
    expect(row.probes).toBeLessThanOrEqual(48);
    expect(result.value).toBeCloseTo(100 * (1 - (largest * MIB) / row.freeBytes), 9);
    // Requests that the driver granted and refused, by its own record: nothing larger was ever granted.
    const asked = tenantIn(record)
      .named('cuMemAlloc_v2')
      .map(({ bytes }) => bytes);
    expect(asked).toContain(largest * MIB);
    expect(asked).toContain(largest * MIB + 2 * MIB);
    // Nine tenths were filled, and half of that is still held during the search.
    const room = result.details.roomBytes as number;
    expect(row.heldBytes).toBeLessThanOrEqual(0.45 * room);
    expect(row.heldBytes).toBeGreaterThan(0.45 * room - 64 * MIB);
  });

  it('is 0 to a granule where all that is free can be had at once', async () => {
    const result = await measured(quota());
    const [row] = rowsOf(result) as [Row];
    expect(result.status).toBe('ok');
    expect(row.freeBytes - row.largestBytes).toBeLessThan(2 * MIB);
    expect(result.value).toBeGreaterThanOrEqual(0);
    expect(result.value).toBeLessThan(0.2);
    const own = ['NVML agrees with the reported free memory', 'memory returned', 'the card is left as it was found'];
    for (const name of own) expect(checkOf(result, name)).toMatchObject({ passed: true });
  });

  it('has the other paths, and more churn, at the next tier; the sizes follow from the seed', async () => {
    const [one, two] = [
      await measuredOutside('FRAG-001', quota(), {}, 'standard'),
      await measuredOutside('FRAG-001', quota(), {}, 'standard'),
    ];
    expect(one.status).toBe('ok');
    expect(rowsOf(one).map(({ path, turnover }) => [path, turnover])).toEqual([
      ['cuMemAlloc_v2', 0],
      ['cuMemAlloc_v2', 4000],
      ['cuMemAllocAsync', 0],
      ['cuMemCreate', 0],
    ]);
    expect(rowsOf(one)[1]?.operations).toBeGreaterThan(4000);
    for (const row of rowsOf(one)) expect(row.failed).toBeUndefined();
    expect(rowsOf(two).map(({ blocks, heldBytes }) => [blocks, heldBytes])).toEqual(
      rowsOf(one).map(({ blocks, heldBytes }) => [blocks, heldBytes]),
    );
  });

  it('is unsupported below a limit of 1 GiB', async () => {
    const result = await measured({ memory: '1000MiB', interpose: `quota=1000MiB,context=${CONTEXT_MIB}MiB` });
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result.reason).toMatch(/is less than 1 GiB$/);
  });

  it('does not believe a layer that says more is free than it grants', async () => {
    const result = await measured(quota(',shows=4GiB'));
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(/cuMemAlloc_v2 of .* returned CUDA_ERROR_OUT_OF_MEMORY/);
  });

  it('does not believe a layer that says less is free than it grants', async () => {
    const result = await measured({ memory: '4GiB', interpose: `quota=4GiB,context=${CONTEXT_MIB}MiB,shows=2GiB` });
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(/was granted at once, although no more is reported as free/);
  });

  it.each([
    ['hands out addresses with no memory behind them', 'nothing', /cannot be written/],
    ['hands out one block again and again', 'twice', /does not hold what was written to it/],
  ])('is invalid where a layer %s', async (_, grants, reason) => {
    const result = await measured(quota(`,grants=${grants}`));
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(reason);
  });

  it('is invalid where what is free does not follow what NVML shows', async () => {
    const result = await measured(quota(), { processMemory: () => Promise.resolve(CONTEXT_MIB * MIB) });
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(/^NVML agrees with the reported free memory: cuMemAlloc_v2: .* NVML shows 0 B more/);
  });
});

describe('FRAG-002', () => {
  const COUNT = 31;
  const STATES = ['contiguous', 'fragmented', 'contiguous again'];
  interface Cell {
    state: string;
    bytes: number;
    allocUs: number;
    ci95: [number, number] | null;
    count: number;
  }
  const cellsOf = ({ details }: MetricResult) => details.cells as Cell[];

  /** Sequences of calls of one size, which a churn never makes; the timed calls are the last of each sequence. */
  function timed(recorded: Recorded, bytes: number): RecordedCall[][] {
    const runs: RecordedCall[][] = [];
    let run: RecordedCall[] = [];
    for (const call of recorded.named('cuMemAlloc_v2')) {
      if (call.bytes === bytes) run.push(call);
      else run = [];
      if (run.length === COUNT) runs.push(run);
    }
    return runs.map((calls) => calls.slice(-COUNT));
  }

  it('recovers what an allocation costs beside fragments, and that it is gone once they are freed', async () => {
    const sim = `region=${ownRegion('holes')},memory_mib=1700,context_mib=100,alloc_hole_us=3`;
    const options = { seed: 1, iterations: COUNT };
    const { result, record } = await undisturbedRecord((folder) =>
      measuredIn('FRAG-002', environmentUnder(null, sim, folder), options),
    );
    const recorded = tenantIn(record);
    expect(result.reason).toBeUndefined();
    expect(cellsOf(result)).toHaveLength(9);
    for (const bytes of [2 * MIB, 16 * MIB, 64 * MIB]) {
      const runs = timed(recorded, bytes);
      expect(runs).toHaveLength(STATES.length);
      for (const [i, state] of STATES.entries()) {
        const cell = cellsOf(result).find((each) => each.state === state && each.bytes === bytes) as Cell;
        const brackets = (runs[i] as RecordedCall[]).map((call) => bracketOf(recorded, call, call));
        expectMedianBetween({ value: cell.allocUs, ci95: cell.ci95 }, brackets, 1e3);
      }
    }
    const own = (state: string) =>
      cellsOf(result).find((cell) => cell.state === state && cell.bytes === 16 * MIB) as Cell;
    const [before, fragmented, after] = STATES.map(own) as [Cell, Cell, Cell];
    expect(result.value).toBeCloseTo(fragmented.allocUs / ((before.allocUs + after.allocUs) / 2), 9);
    if (fragmented.ci95 && before.ci95 && after.ci95)
      expect(result.ci95?.[0]).toBeCloseTo(fragmented.ci95[0] / Math.max(before.ci95[1], after.ci95[1]), 9);
    else expect(result.ci95).toBeNull();
    // Dozens of pieces at 3 us each, in addition to 5 us.
    expect(result.value).toBeGreaterThan(3);
  });

  it('has the same blocks on every card of more than 16 GiB', async () => {
    const of = (memoryMib: number) => {
      const sim = `region=${ownRegion(`size-${memoryMib}`)},memory_mib=${memoryMib},context_mib=100`;
      return measuredIn('FRAG-002', environmentUnder(null, sim), { seed: 1, iterations: 5 });
    };
    const [small, large] = [await of(18_000), await of(36_000)];
    expect(small.details.blocks).toBeGreaterThan(500);
    expect(large.details).toMatchObject({ blocks: small.details.blocks, heldBytes: small.details.heldBytes });
    expect(large.details.roomBytes).toBeGreaterThan(1.9 * (small.details.roomBytes as number));
  });

  it('is invalid where what was granted is no memory', async () => {
    const result = await measuredOutside('FRAG-002', quota(',grants=twice'));
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(/does not hold what was written to it/);
  });
});

describe('FRAG-003', () => {
  interface Details {
    initialBytes: number;
    afterChurnPercent: number;
    outsidePercent: number;
    afterKillPercent: number;
    operations: number;
    driftBytesPer100k: number;
    paths: { path: string; reason?: string }[];
    killed: { killedBytes: number; grantedBytes: number; returnedMs: number | null };
  }
  const detailsOf = (result: MetricResult) => result.details as unknown as Details;
  const reclaimed = (of: Limited) => measuredOutside('FRAG-003', of);

  it('finds all memory again where a layer counts well', async () => {
    const result = await reclaimed(quota());
    expect(result).toMatchObject({ status: 'ok', value: 100 });
    const { operations, driftBytesPer100k, paths, killed } = detailsOf(result);
    expect(operations).toBeGreaterThan(4000);
    expect(driftBytesPer100k).toBe(0);
    expect(paths.map(({ reason }) => reason)).toEqual([undefined, undefined, undefined, undefined]);
    expect(killed.killedBytes).toBeGreaterThan(0.4 * detailsOf(result).initialBytes);
    expect(killed.returnedMs).toBeGreaterThan(0);
    for (const name of ['NVML shows that the memory was released', 'the card is left as it was found'])
      expect(checkOf(result, name)).toMatchObject({ passed: true });
  });

  it('recovers the drift of a layer that forgets a part of what is freed', async () => {
    const record = emptyFolder();
    const FORGOTTEN = 64 * 1024;
    const result = await reclaimed({ ...quota(',forgets=64KiB'), record });
    const { operations, driftBytesPer100k, afterChurnPercent, initialBytes, outsidePercent } = detailsOf(result);
    // The frees of the churn are between two readings of the free memory.
    const { calls } = tenantIn(record);
    const frees = calls.filter(({ name }) => ['cuMemFree_v2', 'cuMemFreeAsync', 'cuMemRelease'].includes(name));
    const looks = calls.filter(({ name }) => name === 'cuMemGetInfo_v2').map(({ entered }) => entered);
    const between = looks.map((from, i) => {
      const to = looks[i + 1] ?? Number.POSITIVE_INFINITY;
      return frees.filter(({ entered }) => entered > from && entered < to).length;
    });
    const lost = FORGOTTEN * Math.max(...between);
    expect((driftBytesPer100k * operations) / 100_000).toBeCloseTo(lost, 3);
    expect(result.status).toBe('ok');
    // The second fill gets that much less, and less by the loss of the first fill, in whole granules.
    const missing = (1 - afterChurnPercent / 100) * initialBytes;
    expect(missing).toBeGreaterThan(lost - 4 * MIB);
    expect(missing).toBeLessThan(lost + 16 * MIB);
    expect(outsidePercent).toBe(100);
    expect(result.value).toBe(afterChurnPercent);
  });

  it('sees the quota that a killed tenant takes with it', async () => {
    const result = await reclaimed(quota(',pool={pool}'));
    const { killed, initialBytes, afterKillPercent, afterChurnPercent } = detailsOf(result);
    expect(afterChurnPercent).toBe(100);
    expect(killed.returnedMs).toBeNull();
    // The memory left without the killed tenant's blocks and its context.
    const left = initialBytes - killed.killedBytes - CONTEXT_MIB * MIB;
    expect(killed.grantedBytes).toBeLessThanOrEqual(left);
    expect(killed.grantedBytes).toBeGreaterThan(left - 4 * MIB);
    expect(result).toMatchObject({ status: 'ok', value: afterKillPercent });
    // On the card itself the memory is free again.
    expect(checkOf(result, 'the card is left as it was found')).toMatchObject({ passed: true });
  });

  it('is invalid where what was granted is no memory', async () => {
    const result = await reclaimed(quota(',grants=nothing'));
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(/^granted memory is real memory: a granted block of .* cannot be written/);
  });
});

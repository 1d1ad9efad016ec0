/** FRAG-001: a known largest block, what is not believed, and memory given back. */
import { expect, it } from 'vitest';
import type { GroundTruth } from '../../../lib/native/ground-truth.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { emptyFolder } from '../../native/child.js';
import { environmentUnder, measured as measuredIn } from '../../native/measured.js';
import { CONTEXT_MIB, type Limited, measuredOutside } from '../../native/memory-limited.js';
import { type Recorded, recordedByProcess } from '../../native/record.js';
import { ownRegion } from '../../temporary.js';

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

/** The tenant's, which allocates. */
function tenantIn(record: string): Recorded {
  const found = recordedByProcess(record).find((process) => process.named('cuMemAlloc_v2').length > 50);
  return found as Recorded;
}

it.each([100, 300])('finds a largest block of %i MiB, in at most 48 attempts', async (largest) => {
  const record = emptyFolder();
  const sim = `region=${ownRegion('largest')},memory_mib=1700,context_mib=100,largest_mib=${largest}`;
  const result = await measuredIn('FRAG-001', environmentUnder(null, sim, record), { seed: 1 });
  const [row] = rowsOf(result) as [Row];
  expect(result).toMatchObject({ status: 'ok', details: { limitBytes: 1700 * MIB } });
  expect(row.largestBytes).toBe(largest * MIB);
  expect(row.probes).toBeLessThanOrEqual(48);
  expect(result.value).toBeCloseTo(100 * (1 - (largest * MIB) / row.freeBytes), 9);
  // What the driver granted and refused, by its own record: nothing beyond that was ever granted.
  const asked = tenantIn(record)
    .named('cuMemAlloc_v2')
    .map(({ bytes }) => bytes);
  expect(asked).toContain(largest * MIB);
  expect(asked).toContain(largest * MIB + 2 * MIB);
  // Nine tenths were filled, of which half is still held when it is looked for.
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
  const own = ['NVML agrees with what is said to be free', 'memory returned', 'the card is left as it was found'];
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
  expect(result.reason).toMatch(/was granted at once, although no more is said to be free/);
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
  expect(result.reason).toMatch(/^NVML agrees with what is said to be free: cuMemAlloc_v2: .* NVML shows 0 B more/);
});

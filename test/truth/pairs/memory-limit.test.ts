/** IS-001: the published result compared with what the simulated card granted, under limits of known error. */
import { expect, it } from 'vitest';
import { type Limited, CONTEXT_MIB, measuredOutside, pathsOf, withOutcome } from '../../native/memory-limited.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** memory_mib of the simulated card. */
const CARD_BYTES = 143_771 * MIB;
/** The smallest block size. */
const STEP = 64 * 1024;
const TWO = 'cuMemAlloc_v2, two processes';
const pooled = (quota: string, more = ''): Limited => ({
  memory: '2GiB',
  interpose: `quota=${quota},context=${CONTEXT_MIB}MiB,pool={pool}${more}`,
  memLimit: 'perTenantPool',
});
const measured = (of: Limited) => measuredOutside('IS-001', of);

interface Point {
  signedErrorBytes: number;
  contextBytes: number;
}
const pointOf = (result: { details: Record<string, unknown> }): Point => (result.details.points as [Point])[0];

it('is 100 if every way to allocate honours the limit, also for two processes together', async () => {
  const result = await measured(pooled('2GiB'));
  expect(result).toMatchObject({ status: 'ok', value: 100 });
  expect(result.violations).toBeUndefined();
  expect(withOutcome(result, 'enforced')).toEqual(pathsOf(result).map(({ path }) => path));
  expect(pathsOf(result)).toHaveLength(9);
  expect(pointOf(result)).toMatchObject({ signedErrorBytes: 0, contextBytes: CONTEXT_MIB * MIB });
  expect(result.checks.filter(({ passed }) => passed === false)).toEqual([]);
  expect(pathsOf(result).every(({ truthBytes }) => truthBytes !== null)).toBe(true);
});

it("is 100 under the driver's own limit, which applies per process", async () => {
  const result = await measured({ memory: '2GiB', driver: '2G', memLimit: 'perProcess' });
  expect(result).toMatchObject({ status: 'ok', value: 100 });
  expect(result.violations).toBeUndefined();
  const together = pathsOf(result).find(({ path }) => path === TWO);
  expect(together).toMatchObject({
    outcome: 'limited per process',
    reason: 'each of 2 processes has a limit of its own',
  });
  expect(together?.truthBytes).toBe(4 * GIB);
  expect(withOutcome(result, 'leaks')).toEqual([]);
});

it("shows two processes that take twice their tenant's limit", async () => {
  const result = await measured({ memory: '2GiB', driver: '2G', memLimit: 'perTenantPool' });
  expect(result.violations).toEqual([{ detail: `${TWO}: 3.02 GiB granted under a limit of 2 GiB; NVML shows 4 GiB` }]);
});

it.each([
  ['below', 1536, 75],
  ['a little above', 2048 + 32, 98.4375],
])('recovers a limit that is %s the configured one', async (_where, mib, value) => {
  const result = await measured(pooled(`${mib}MiB`));
  expect(result.status).toBe('ok');
  expect(Math.abs(pointOf(result).signedErrorBytes - (mib * MIB - 2 * GIB))).toBeLessThan(STEP);
  expect(result.value).toBeCloseTo(value, 2);
  expect(result.violations?.length ?? 0).toBe(mib > 2048 ? 9 : 0);
});

it('finds the one way to allocate that the limit ignores', async () => {
  const result = await measured(pooled('2GiB', ',ignores=cuMemAllocAsync'));
  expect(result).toMatchObject({ status: 'ok', value: 100 });
  expect(withOutcome(result, 'leaks')).toEqual(['cuMemAllocAsync']);
  expect(result.violations).toEqual([
    { detail: 'cuMemAllocAsync: 2.2 GiB granted under a limit of 2 GiB; NVML shows 2.69 GiB' },
  ]);
});

it('flags refusals with another code than CUDA_ERROR_OUT_OF_MEMORY', async () => {
  const result = await measured(pooled('2GiB', ',refusal=1'));
  expect(result).toMatchObject({ status: 'ok', value: 100 });
  expect(withOutcome(result, 'wrong error')).toEqual(pathsOf(result).map(({ path }) => path));
  expect(pathsOf(result)[0]?.reason).toBe('cuMemAlloc_v2 answered CUDA_ERROR_INVALID_VALUE (1)');
});

it.each(['nothing', 'twice'])('is invalid if a layer grants %s instead of memory', async (grants) => {
  const result = await measured(pooled('2GiB', `,grants=${grants}`));
  expect(result).toMatchObject({ status: 'invalid', value: null });
  expect(result.reason).toMatch(/^granted memory is real memory: cuMemAlloc_v2: a granted block of \d+ bytes /);
});

it("does not trust a layer's reports about memory", async () => {
  const result = await measured(pooled('1800MiB', ',shows=2GiB'));
  expect(pointOf(result).signedErrorBytes).toBe(1800 * MIB - 2 * GIB);
});

it('starts a new process after a way to allocate that keeps its memory', async () => {
  const result = await measured({
    memory: '2GiB',
    driver: '2G',
    memLimit: 'perProcess',
    sim: 'fail=cuMemFreeAsync:1@1',
  });
  expect(result).toMatchObject({ status: 'ok', value: 100 });
  const kept = pathsOf(result).filter(({ reason }) => reason?.includes('to a free'));
  expect(kept.map(({ path }) => path)).toEqual(['cuMemAllocAsync', 'cuMemAllocFromPoolAsync']);
  expect(withOutcome(result, 'enforced')).toHaveLength(8);
  expect(result.checks).toContainEqual({
    name: 'memory was given back',
    passed: false,
    detail: expect.stringContaining('cuMemAllocAsync: cuMemFreeAsync answered CUDA_ERROR_INVALID_VALUE to a free'),
  });
});

it('fails if the limit has no effect, and is unsupported if none was set', async () => {
  const none = await measured({ memory: '2GiB', interpose: 'cuMemAlloc_v2=+0ns' });
  expect(none).toMatchObject({ status: 'failed', value: null });
  expect(none.reason).toMatch(/^limit not enforced: 2\.2 GiB were granted under a limit of 2 GiB/);
  expect(none.violations).toHaveLength(9);
  const unset = await measured({ interpose: 'cuMemAlloc_v2=+0ns' });
  expect(unset).toMatchObject({ status: 'unsupported', reason: 'no memory limit is configured' });
});

it.each(['IS-001', 'IS-002'])(
  '%s is under a quarter, a half and three quarters of the card at tier thorough',
  async (id) => {
    const interpose = `quota={memoryBytes},context=${CONTEXT_MIB}MiB`;
    const result = await measuredOutside(id, { memory: '2GiB', interpose, memLimit: 'perProcess' }, {}, 'thorough');
    expect(result.status).toBe('ok');
    const points = (result.details.points ?? result.details.rows) as { limitBytes: number }[];
    const limits = [...new Set(points.map(({ limitBytes }) => limitBytes))];
    expect(limits[0]).toBe(2 * GIB);
    const shares = limits.slice(1).map((bytes) => bytes / CARD_BYTES);
    expect(shares.map((share) => Number(share.toFixed(3)))).toEqual([0.25, 0.5, 0.75]);
    expect(result.violations).toBeUndefined();
    if (id === 'IS-001') expect(result.value).toBeCloseTo(100, 3);
  },
);

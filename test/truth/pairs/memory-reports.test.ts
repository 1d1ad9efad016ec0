/** IS-002 recovers the durations of refusals, and IS-013 finds false reports of a layer. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { emptyFolder } from '../../native/child.js';
import { type Limited, CONTEXT_MIB, measuredOutside } from '../../native/memory-limited.js';
import { durationOf, recordedByProcess } from '../../native/record.js';
import { expectRecovered } from '../../native/recovered.js';

const MIB = 2 ** 20;
const quota = (more = ''): Limited => ({
  memory: '2GiB',
  interpose: `quota=2GiB,context=${CONTEXT_MIB}MiB${more}`,
  memLimit: 'perProcess',
});

interface Row {
  api: string;
  request: string;
  bytes: number;
  medianUs: number | null;
  ci95: [number, number] | null;
  refused: number;
  accepted: number;
  wrong_error: { name: string; count: number }[];
}
const rowsOf = ({ details }: MetricResult): Row[] => details.rows as Row[];

it('IS-002 recovers the time of refusals', async () => {
  const record = emptyFolder();
  const result = await measuredOutside('IS-002', { memory: '2GiB', driver: '2G', memLimit: 'perProcess', record });
  expect(result).toMatchObject({ status: 'ok', unit: 'us' });
  const [tenant] = recordedByProcess(record).filter(
    (process) => process.named('cuMemAlloc_v2').filter(({ bytes }) => bytes === 65 * MIB).length > 0,
  );
  if (!tenant) throw new Error('No process asked for 65 MiB.');
  expectRecovered(
    rowsOf(result).map(({ api, request, bytes, medianUs, ci95, refused }) => {
      const calls = tenant.named(api).filter((call) => call.bytes === bytes);
      expect(refused).toBe(calls.length);
      return [
        `${api} ${request}`,
        { value: medianUs, ci95 },
        tenant.truthOfSameCalls(calls.map(durationOf), { unitNs: 1e3 }),
      ] as const;
    }),
  );
  expect([result.value, result.ci95]).toEqual([rowsOf(result)[2]?.medianUs, rowsOf(result)[2]?.ci95]);
});

it('IS-002 makes fewer requests if refusals are slow', async () => {
  const result = await measuredOutside('IS-002', quota(',cuMemAllocAsync=+20ms'));
  expect(result.status).toBe('ok');
  const slow = rowsOf(result).filter(({ api }) => api === 'cuMemAllocAsync');
  expect(slow).toHaveLength(2);
  for (const { refused } of slow) {
    expect(refused).toBeGreaterThanOrEqual(20);
    // The 51st would begin after a second.
    expect(refused).toBeLessThanOrEqual(50);
  }
});

it('IS-002 publishes no time if refusals have another code', async () => {
  const result = await measuredOutside('IS-002', quota(',refusal=-1'));
  expect(result).toMatchObject({ status: 'invalid', value: null });
  expect(result.reason).toMatch(/^refusals answer CUDA_ERROR_OUT_OF_MEMORY: cuMemAlloc_v2, gross: .*\(-1\) 300 times/);
});

it('IS-002 fails with the granted amount if one allocator has no limit', async () => {
  const result = await measuredOutside('IS-002', quota(',ignores=cuMemAllocAsync'));
  expect(result).toMatchObject({ status: 'failed', value: null });
  expect(result.reason).toBe('limit not enforced: cuMemAllocAsync: 3 GiB granted under a limit of 2 GiB');
  expect(rowsOf(result).map(({ accepted }) => accepted > 0)).toEqual([false, true, false, true]);
  expect(result.violations).toHaveLength(2);
});

interface Report {
  source: string;
  says: string;
  agrees: boolean | null;
}
const wrong = ({ details }: MetricResult): string[] =>
  (details.reports as Report[]).flatMap(({ source, agrees }) => (agrees === false ? [source] : []));

/** The layer does not intercept NVML. */
const NVML = [
  'nvmlDeviceGetMemoryInfo: total',
  'nvmlDeviceGetMemoryInfo: free',
  'nvmlDeviceGetMemoryInfo_v2: total',
  'nvmlDeviceGetMemoryInfo_v2: free',
];

it('IS-013 is 1 without limits and false reports', async () => {
  const result = await measuredOutside('IS-013', { interpose: 'cuMemAlloc_v2=+0ns' });
  expect(wrong(result)).toEqual([]);
  expect(result).toMatchObject({ status: 'ok', value: 1 });
  expect((result.details.reports as Report[]).every(({ agrees }) => agrees === true)).toBe(true);
});

it('IS-013 finds that NVML does not report the limit', async () => {
  const result = await measuredOutside('IS-013', quota());
  expect(result).toMatchObject({ status: 'ok', value: 0 });
  expect(wrong(result)).toEqual(NVML);
});

it('IS-013 finds a layer that reports more than it grants', async () => {
  const result = await measuredOutside('IS-013', quota(',shows=8GiB'));
  expect(wrong(result)).toEqual(['cuMemGetInfo: total', 'cuMemGetInfo: free', 'cuDeviceTotalMem: total', ...NVML]);
});

describe('IS-013 under a layer between the tenant and NVML', () => {
  const layer = join(emptyFolder(), 'nvml-layer.so');
  beforeAll(() => {
    const source = fileURLToPath(new URL('../../native/fixtures/nvml-layer.c', import.meta.url));
    execFileSync('cc', ['-shared', '-fPIC', '-o', layer, source, '-ldl']);
  });
  const under = (change: Record<string, string>) =>
    measuredOutside('IS-013', { environment: { LD_PRELOAD: layer, ...change } });

  it('is not 1 if NVML reports no memory to it', async () => {
    const { status, value, reason } = await under({ GVB_TEST_SILENT: 'nvmlDeviceGetHandleByUUID' });
    expect([status, value]).toEqual(['unsupported', null]);
    expect(reason).toBe('NVML reports no memory to the tenant, and does outside of it');
  });

  it('finds that NVML shows another GPU', async () => {
    const result = await under({ GVB_TEST_UUID: 'GPU-00000000-0000-0000-0000-000000000000' });
    expect(result).toMatchObject({ status: 'ok', value: 0 });
    expect(wrong(result)).toEqual(['NVML: GPUs']);
  });
});

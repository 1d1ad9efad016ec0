/** LLM-005: pairs of calls compared with the record, and a known delay as a loss relative to native. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as bench from '../../../lib/index.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { median } from '../../../lib/stats/median.js';
import { measureRecorded } from '../../native/child.js';
import { durationOf, type Recorded, recordedByProcess } from '../../native/record.js';
import { expectRecovered } from '../../native/recovered.js';
import { ownRegion, temporaryFolder } from '../../temporary.js';

const KIB = 1024;
const MIB = KIB ** 2;
const SIZES = [64 * KIB, MIB, 16 * MIB];
const CALLS: Record<string, [take: string, give: string]> = {
  cuMemAllocAsync: ['cuMemAllocAsync', 'cuMemFreeAsync'],
  cuMemAllocFromPoolAsync: ['cuMemAllocFromPoolAsync', 'cuMemFreeAsync'],
  cuMemAlloc: ['cuMemAlloc_v2', 'cuMemFree_v2'],
};

interface Row {
  api: string;
  bytes: number;
  pairUs: number;
  ci95: [number, number];
  count: number;
}
const rowsOf = ({ details }: MetricResult) => details.rows as Row[];

/**
 * Each allocation of that size with the free after it, in ns; only the last `count`, because the first ones are
 * warm-up.
 */
function pairsOf(recorded: Recorded, api: string, bytes: number, count: number): number[] {
  const [take, give] = CALLS[api] as [string, string];
  const calls = recorded.calls.filter((call) => !call.hook && (call.name === take || call.name === give));
  const pairs = calls.flatMap((call, i) => {
    const next = calls[i + 1];
    const fits = call.name === take && call.bytes === bytes && next?.name === give;
    return fits ? [durationOf(call) + durationOf(next)] : [];
  });
  return pairs.slice(-count);
}

it.each([
  ['a cheap pool', { alloc_us: 31, free_us: 12, alloc_async_us: 1.5, free_async_us: 0.7 }],
  ['an expensive pool', { alloc_us: 13, free_us: 17, alloc_async_us: 11, free_async_us: 23 }],
])('recovers the pairs of %s at every size', async (_, costs) => {
  const { results, recorded } = await measureRecorded([['measureMemoryPool', { iterations: 60 }]], {
    sim: { init_ms: 1, context_ms: 1, ...costs },
  });
  const result = results[0] as MetricResult;
  const rows = rowsOf(result);
  expect(rows.map(({ api, bytes }) => [api, bytes])).toEqual(
    Object.keys(CALLS).flatMap((api) => SIZES.map((bytes) => [api, bytes])),
  );
  expectRecovered(
    rows.map(({ api, bytes, pairUs, ci95, count }) => [
      `${api} ${bytes}`,
      { value: pairUs, ci95 },
      recorded.truth(pairsOf(recorded, api, bytes, count), { samples: count, calls: 2, unitNs: 1e3 }),
    ]),
  );
  const of = (api: string) => rows.find((row) => row.api === api && row.bytes === MIB)?.pairUs as number;
  expect(result.details.pairUs).toBe(of('cuMemAllocAsync'));
  const speedups = result.details.speedups as { bytes: number; poolSpeedup: number }[];
  expect(speedups.find(({ bytes }) => bytes === MIB)?.poolSpeedup).toBeCloseTo(
    of('cuMemAlloc') / of('cuMemAllocAsync'),
    9,
  );
  expect(result.checks).toContainEqual(
    expect.objectContaining({ name: 'the pool is left as it was found', passed: true }),
  );
});

it('keeps the pool warm while it measures, and restores it', async () => {
  const { results, recorded } = await measureRecorded([['measureMemoryPool', { iterations: 10 }]], {
    sim: { init_ms: 1, context_ms: 1 },
  });
  expect(results[0]?.status).toBe('unsupported');
  const warmed = recorded.named('cuMemAllocAsync').filter(({ bytes }) => bytes === 64 * MIB);
  expect(warmed).toHaveLength(12);
  // Six rows, the same past the layer, and two refusals each set the threshold and restore it.
  expect(recorded.named('cuMemPoolSetAttribute')).toHaveLength(2 * 14);
  expect(recorded.named('cuMemPoolTrimTo')).toHaveLength(14);
});

const settings = `region=${ownRegion('pools')},init_ms=1,context_ms=1,alloc_async_us=6,free_async_us=4`;
beforeAll(() => {
  vi.stubEnv('GVB_SIM', settings);
});
afterAll(() => vi.unstubAllEnvs());

it('recovers a delay of a known size as a signed loss against native', async () => {
  const record = temporaryFolder('record');
  vi.stubEnv('GVB_SIM', `${settings},record=${record}`);
  const layer = `env.LD_PRELOAD=${interposerLibrary()},env.GVB_INTERPOSE=cuMemAllocAsync=+5us`;
  const { effects, systems } = await bench.compareSystems({
    metrics: ['LLM-005'],
    systems: ['native', `custom:name=slow,${layer},env.GVB_INTERPOSE_RECORD=${record}`],
    rounds: 2,
    tier: 'quick',
    iterations: 100,
    simulate: true,
  });
  vi.stubEnv('GVB_SIM', settings);
  const measuring = recordedByProcess(record).filter(({ calls }) =>
    calls.some(({ name }) => name === 'cuMemAllocAsync'),
  );
  expect(measuring).toHaveLength(4);
  const isSlow = ({ calls }: Recorded) => calls.some(({ hook }) => hook);
  const pairUs = (of: readonly Recorded[]) =>
    of.map((process) => median(pairsOf(process.joined(), 'cuMemAllocAsync', MIB, 100)).value / 1e3);
  const [slow, native] = [pairUs(measuring.filter(isSlow)), pairUs(measuring.filter((each) => !isSlow(each)))];
  expect([slow.length, native.length]).toEqual([2, 2]);
  const published = systems.map((rounds) => rounds.map(({ metrics }) => metrics[0]?.details.pairUs as number));
  const byValue = (a: number, b: number) => a - b;
  const readingUs = Math.max(...measuring.map(({ readingNs }) => readingNs)) / 1e3;
  for (const [recorded, measured] of [
    [native, published[0]],
    [slow, published[1]],
  ] as [number[], number[]][]) {
    const truth = recorded.sort(byValue);
    for (const [i, value] of measured.sort(byValue).entries())
      expect(Math.abs(value - (truth[i] as number))).toBeLessThan(24 * readingUs);
  }
  expect(effects).toHaveLength(1);
  expect(effects[0]).toMatchObject({ metric: 'LLM-005', ratio: null, rounds: 2 });
  const losses = systems[1]?.map(({ metrics }, round) => {
    const against = systems[0]?.[round]?.metrics[0]?.details.pairUs as number;
    return 100 * ((metrics[0]?.details.pairUs as number) / against - 1);
  }) as [number, number];
  expect(effects[0]?.difference).toBeCloseTo((losses[0] + losses[1]) / 2, 6);
  expect(effects[0]?.difference).toBeGreaterThan(0);
});

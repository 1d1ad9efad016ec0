/** CACHE-001 to CACHE-004 on the simulated card, whose L2 cache tenants share at the same time or in turn. */
import { describe, expect, it } from 'vitest';
import { cacheHitRateBy } from '../../../lib/metrics/cache/cache-001-hit-rate.js';
import { cacheEvictionBy } from '../../../lib/metrics/cache/cache-002-eviction.js';
import { cacheCollisionBy } from '../../../lib/metrics/cache/cache-003-collision.js';
import { cacheContentionBy } from '../../../lib/metrics/cache/cache-004-contention.js';
import type { RowPlan } from '../../../lib/metrics/cache/victim-rows.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { metricNamed } from '../../metric-named.js';
import { environment } from '../../native/measured.js';
import { type RecordedCall, recordedByProcess } from '../../native/record.js';
import { undisturbedRecord } from '../../undisturbed.js';
import { commonTime, spanOf, streamWindows, undisturbedStreams, type Window } from '../bandwidth/stream-windows.js';
import { kernelsIn, lasted, staggered } from '../isolation/shares.js';

/** Sets of an eighth of the cache have 32 KiB for each multiprocessor. */
const CARD = 'l2_mib=4,sms=16';
const MIB = 2 ** 20;
/** A walk through a quarter of the cache by every multiprocessor: 32 passes of 1 MiB. */
const WALKED = 32 * MIB;
/** A walk through an eighth by one warp: 4 passes of 4096 lines. */
const STEPS = 4 * 4096;
const HIT_NS = 150;
const STREAM: RowPlan = { neighbours: 1, kind: 'stream' };
const TIMES = { aloneMs: 40, togetherMs: 200, turns: 1 };
const tenants = (record: string, more: string) =>
  staggered(
    environmentSystem(environment(null, `recorded=cuLaunchKernel+cuDevicePrimaryCtxRetain,${CARD}${more}`, record)),
  );

const measureOn = (id: string, by: MetricDefinition['measure'], card: string) => (record: string) =>
  measureMetric({ ...metricNamed(id), measure: by }, { simulate: true, seed: 1 }, { system: tenants(record, card) });

const measured = (id: string, by: MetricDefinition['measure'], card: string) =>
  undisturbedRecord(measureOn(id, by, card));

/** Where contexts run concurrently, and a test needs their streams without a pause. */
const measuredStreams = (
  id: string,
  by: MetricDefinition['measure'],
  card: string,
  windowsIn: (record: string) => readonly Window[],
) => undisturbedStreams(measureOn(id, by, `,mps=1${card}`), windowsIn);

/** Kernels of that name, of each process that ran some. */
const kernelsNamed = (folder: string, name: string): RecordedCall[][] =>
  recordedByProcess(folder)
    .map(({ calls }) => calls.filter(({ kernel }) => kernel === name))
    .filter((kernels) => kernels.length > 0);

const victimWalks = (folder: string): RecordedCall[] => kernelsNamed(folder, 'gvb_chase')[0] as RecordedCall[];

/** The windows of the neighbour; its first one is a rehearsal. */
const neighbourWindows = (folder: string): Window[] => (streamWindows(folder)[0] as Window[]).slice(1);

/** Walks that lie in the window of the neighbour. */
function walksIn(window: Window, walks: readonly RecordedCall[]): RecordedCall[] {
  const { from, to } = spanOf(window);
  return walks.filter(({ begins, ends }) => begins >= from && ends <= to);
}

function besideStreams(folder: string): RecordedCall[] {
  const walks = victimWalks(folder);
  return neighbourWindows(folder).flatMap((window) => walksIn(window, walks));
}

/** Whether the neighbour had a turn between walks of the victim in each of its windows. */
function hadTurns(folder: string): boolean {
  const walks = victimWalks(folder);
  return neighbourWindows(folder).every((window) => {
    const beside = walksIn(window, walks);
    const [first, last] = [beside[0]?.ends ?? Number.POSITIVE_INFINITY, beside.at(-1)?.begins ?? 0];
    return window.some(({ begins, ends }) => begins >= first && ends <= last);
  });
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const rowsIn = ({ details }: MetricResult) => details.rows as Record<string, number>[];

/** Share of loads that hit, in per cent. */
const recordedHits = (walks: readonly RecordedCall[]): number =>
  100 * (1 - mean(walks.map(({ bytes }) => bytes)) / WALKED);

describe('CACHE-001', () => {
  const plan = { victim: { eighths: 2, blocks: 0 }, rows: [STREAM], times: TIMES };

  it('finds the hits beside a stream at the same time, of a cache with a near and a far half', async () => {
    const { result, record } = await measuredStreams(
      'CACHE-001',
      cacheHitRateBy(plan),
      ',l2_far_ns=60',
      neighbourWindows,
    );
    expect(result).toMatchObject({ status: 'ok', processes: 2, details: { scale: { hits: [{}, {}] } } });
    const recorded = recordedHits(besideStreams(record));
    // By hand: a quarter of the cache and four times the cache share it, while the stream runs.
    expect(recorded).toBeGreaterThan(100 / 4.25 - 1);
    expect(recorded).toBeLessThan(100 / 4.25 + 8);
    expect(Math.abs((result.value as number) - recorded)).toBeLessThan(0.1);
    expect(rowsIn(result)[0]?.idleHitPercent).toBeGreaterThan(99.9);
  });

  it('finds the hits of tenants that take turns, and leaves out loads that waited for their turn', async () => {
    const { result, record } = await measured('CACHE-001', cacheHitRateBy(plan), '');
    const recorded = recordedHits(besideStreams(record));
    expect(result.status).toBe('ok');
    // By hand: 170 us of every slice of 2 ms, of which a pass of hits takes 77 us.
    expect(recorded).toBeGreaterThan(90);
    expect(recorded).toBeLessThan(99);
    expect(Math.abs((result.value as number) - recorded)).toBeLessThan(0.1);
    const [row] = result.details.rows as { together: { gaps: number; gapsPercentOfTime: number } }[];
    expect(row?.together.gaps).toBeGreaterThan(0);
    // About every second slice is the neighbour's.
    expect(row?.together.gapsPercentOfTime).toBeGreaterThan(25);
    expect(row?.together.gapsPercentOfTime).toBeLessThan(75);
  });

  it('finds that two sets that fit do not disturb each other', async () => {
    const rows: RowPlan[] = [{ neighbours: 1, kind: 'chase' }];
    const { result } = await measured('CACHE-001', cacheHitRateBy({ ...plan, rows }), ',mps=1');
    expect(result.status).toBe('ok');
    expect(result.value).toBeGreaterThan(99.9);
  });

  it('has no value where the neighbour had no turn beside the victim', async () => {
    const never = measureOn('CACHE-001', cacheHitRateBy(plan), ',turns_end=2');
    // A victim that a busy machine keeps from launching gives up its turn.
    const { result } = await undisturbedRecord(
      async (record) => ({ ...(await never(record)), id: 'never' }),
      ({ record }) => (hadTurns(record) ? 'the neighbour had turns beside the victim' : null),
    );
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(
      /^no walk of the victim lies in the time in which every neighbour ran$|^every neighbour ran beside the victim: /,
    );
  });
});

it('CACHE-002 finds what bursts of several sizes evict of a quarter of the cache', async () => {
  const bursts = [8, 7, 6, 2];
  const rounds = 6;
  const { result, record } = await measured('CACHE-002', cacheEvictionBy({ bursts, rounds }), '');
  expect(result).toMatchObject({ status: 'ok', processes: 2 });
  // By hand: what does not fit beside the burst.
  const found = rowsIn(result).map(({ burstOfL2, evictedPercent }) => [
    burstOfL2,
    Math.round(evictedPercent as number),
  ]);
  expect(found).toEqual([
    [2 / 8, 0],
    [6 / 8, 0],
    [7 / 8, 50],
    [1, 100],
  ]);
  expect(result.value).toBeCloseTo(100, 1);
  // Of every round prime and probe after a burst, and after a wait.
  const probes = victimWalks(record)
    .slice(-4 * rounds * bursts.length)
    .filter((_, i) => i % 2 === 1);
  const missed = mean(probes.map(({ bytes }) => (100 * bytes) / MIB));
  const said = mean(
    rowsIn(result).flatMap(({ missPercent, controlMissPercent }) => [missPercent, controlMissPercent] as number[]),
  );
  expect(said).toBeCloseTo(missed, 1);
});

it('CACHE-003 finds what four tenants lose whose sets are twice the cache', async () => {
  const plan = { eighths: [1, 16], windowMs: 300 };
  // The cache has four times the DRAM's rate.
  const lastTwo = (folder: string) => streamWindows(folder).map((windows) => windows.slice(-2));
  const { result, record } = await measuredStreams('CACHE-003', cacheCollisionBy(plan), ',l2_gbs=19200', (folder) =>
    lastTwo(folder).flat(),
  );
  expect(result).toMatchObject({ status: 'ok', processes: 4 });
  const windows = lastTwo(record);
  const rates = [0, 1].map((window) => {
    const all = windows.map((each) => each[window] as Window);
    const { from, to } = commonTime(all);
    return all.map((kernels) => kernelsIn(kernels, from, to) / (to - from));
  }) as [number[], number[]];
  const recorded = Math.max(...rates[0].map((rate, tenant) => 100 * (1 - (rates[1][tenant] as number) / rate)));
  // By hand: half of the touches miss, and the DRAM gives half of what the cache gave: each tenant gets half.
  expect(recorded).toBeGreaterThan(45);
  expect(recorded).toBeLessThan(58);
  expect(Math.abs((result.value as number) - recorded)).toBeLessThan(1);
});

it('CACHE-004 finds how much longer loads take, and what of it queues are', async () => {
  const plan = { victim: { eighths: 1, blocks: 1 }, rows: [STREAM], times: TIMES };
  const { result, record } = await measuredStreams(
    'CACHE-004',
    cacheContentionBy(plan),
    ',kernel_ns=0',
    neighbourWindows,
  );
  expect(result).toMatchObject({ status: 'ok', processes: 2 });
  const recorded = mean(besideStreams(record).map(lasted)) / STEPS;
  expect(Math.abs((result.value as number) - 100 * (recorded / HIT_NS - 1))).toBeLessThan(0.3);
  // By hand: an eighth and four times the cache share it, and a stream uses half of its rate, where all of it adds 30 ns.
  const hits = 1 / 4.125;
  const expected = hits * HIT_NS + (1 - hits) * 450 + 15;
  expect(recorded).toBeGreaterThan(0.85 * expected);
  expect(recorded).toBeLessThan(1.02 * expected);
  const row = rowsIn(result)[0] as Record<string, number>;
  expect(row.hitsSlowerPercent).toBeGreaterThan(5);
  expect(row.hitsSlowerPercent).toBeLessThan(10.1);
});

it.each(['CACHE-001', 'CACHE-002', 'CACHE-003', 'CACHE-004'])(
  '%s is unsupported where hits and misses take about as long',
  async (id) => {
    const system = tenants('', ',mps=1,l2_hit_ns=300,l2_miss_ns=440');
    const result = await measureMetric(metricNamed(id), { simulate: true, seed: 1 }, { system });
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result.reason).toMatch(
      /^a load that misses the L2 cache takes 440 ns and one that hits it 300 ns: less than 1.5 times as long$/,
    );
  },
);

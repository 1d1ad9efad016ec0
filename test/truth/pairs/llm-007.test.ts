/** LLM-007: times of large blocks compared with the record, and what the card really holds meanwhile. */
import { expect, it } from 'vitest';
import type { GroundTruth } from '../../../lib/native/ground-truth.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { median } from '../../../lib/stats/median.js';
import { type Bracket, bracketOf, expectBetween, expectMedianBetween } from '../../native/brackets.js';
import { emptyFolder, measureProcesses, type Settings } from '../../native/child.js';
import { CONTEXT_MIB, type Limited, measuredOutside } from '../../native/memory-limited.js';
import { durationOf, type Recorded, type RecordedCall, recordedByProcess } from '../../native/record.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const COUNT = 6;
/** Allocations of each size past the layer before the others, and as many after them: each time with one that is not timed. */
const AFTER = 4;
const BARE = 2 * AFTER;
/**
 * Tolerance relative to a time: delay between a call's return and the reading of the clock on a busy machine (seen: 4
 * us of 400).
 */
const LATE = 0.015;

interface Row {
  api: string;
  bytes: number;
  allocMs: number;
  ci95: [number, number];
  msPerGib: number;
  touchMs: number;
  freeMs: number;
  count: number;
  backedBytes: number | null;
  failed?: string;
}
const rowsOf = ({ details }: MetricResult) => details.rows as Row[];
const backed = ({ checks }: MetricResult) => checks.find(({ name }) => name === 'NVML shows the memory of every size');
const measured = (of: Limited = {}, sees?: Partial<GroundTruth>) => measuredOutside('LLM-007', of, sees);
const pooled = (quota: string, more = ''): Limited => ({
  memory: '4GiB',
  interpose: `quota=${quota},context=${CONTEXT_MIB}MiB${more}`,
});

/** Measures on a card with other settings than the file's, and without readings from outside. */
async function onOwnCard(settings: Settings): Promise<{ result: MetricResult; recorded: Recorded }> {
  const sim = { init_ms: 1, context_ms: 1, context_mib: CONTEXT_MIB, ...settings };
  const { results, processes } = await measureProcesses([['measureLargeTensorAllocation', {}]], { sim });
  const recorded = processes.find(({ calls }) => calls.some(({ bytes }) => bytes >= GIB));
  return { result: results[0] as MetricResult, recorded: recorded as Recorded };
}

/** The next call of that name after a call. */
const behind = (recorded: Recorded, call: RecordedCall, name: string): RecordedCall =>
  recorded.named(name).find(({ entered }) => entered >= call.left) as RecordedCall;

interface Times {
  alloc: Bracket;
  touch: Bracket;
  /** Time of the call alone, because the coordinator checks the card before it. */
  freeNs: number;
}

/** The last blocks of that size through the layer; the very first one is a trial. */
function timesOf(recorded: Recorded, { api, bytes }: Row): Times[] {
  const isVirtual = api === 'cuMemCreate';
  const first = recorded.named(isVirtual ? 'cuMemCreate' : 'cuMemAlloc_v2').filter((call) => call.bytes === bytes);
  return first.slice(-COUNT - AFTER, -AFTER).map((call) => {
    const accessible = isVirtual ? behind(recorded, call, 'cuMemSetAccess') : call;
    const fill = behind(recorded, accessible, 'cuMemsetD8_v2');
    const free = behind(recorded, fill, isVirtual ? 'cuMemUnmap' : 'cuMemFree_v2');
    return {
      alloc: bracketOf(recorded, call, accessible),
      touch: bracketOf(recorded, fill, behind(recorded, fill, 'cuCtxSynchronize')),
      freeNs: isVirtual ? behind(recorded, free, 'cuMemRelease').left - free.entered : durationOf(free),
    };
  });
}

it.each([
  ['cheap', { alloc_us: 30, free_us: 20, vmm_us: 14 }],
  ['expensive', { alloc_us: 900, free_us: 400, vmm_us: 300 }],
])('recovers %s allocations, first touches and frees of every size', async (_, costs) => {
  const { result, recorded } = await onOwnCard(costs);
  const rows = rowsOf(result);
  expect(rows.map(({ api, bytes }) => [api, bytes / GIB])).toEqual(
    ['cuMemAlloc', 'cuMemCreate'].flatMap((api) => [1, 2, 4, 8].map((gib) => [api, gib])),
  );
  for (const row of rows) {
    const times = timesOf(recorded, row);
    expectMedianBetween(
      { value: row.allocMs, ci95: row.ci95 },
      times.map(({ alloc }) => alloc),
      1e6,
    );
    const touch = times.map((time) => time.touch);
    expectBetween(1e6 * row.touchMs, [
      median(touch.map(({ leastNs }) => leastNs)).value,
      median(touch.map(({ mostNs }) => mostNs)).value,
    ]);
    // Two of six may be interrupted between the call and a reading of the clock, which changes the median's rank.
    for (const [value, ns] of [
      [row.allocMs, times.map(({ alloc }) => alloc.leastNs)],
      [row.touchMs, touch.map(({ leastNs }) => leastNs)],
      [row.freeMs, times.map(({ freeNs }) => freeNs)],
    ] as const) {
      const most = Math.max(...ns);
      expectBetween(1e6 * value, [median(ns).value, most + 120 * recorded.readingNs + LATE * most]);
    }
  }
  const largest = rows.find(({ api, bytes }) => api === 'cuMemAlloc' && bytes === 8 * GIB) as Row;
  expect(result).toMatchObject({ status: 'ok', details: { largestBytes: 8 * GIB } });
  expect(result.value).toBeCloseTo(largest.allocMs / 8, 12);
});

it('takes sizes up to eight tenths of the limit', async () => {
  const result = await measured(pooled('4GiB'));
  expect(result).toMatchObject({ status: 'ok', details: { limitBytes: 4 * GIB, largestBytes: 2 * GIB } });
  expect(rowsOf(result).map(({ bytes }) => bytes / GIB)).toEqual([1, 2, 1, 2]);
  for (const { bytes, backedBytes } of rowsOf(result)) expect(backedBytes).toBe(bytes);
});

it('leaves a GiB of the card free', async () => {
  const { result } = await onOwnCard({ memory_mib: 4 * 1024 + CONTEXT_MIB + 2 + 512 });
  expect(result).toMatchObject({ status: 'ok', details: { largestBytes: 2 * GIB } });
});

it('takes sizes up to eight tenths of an instance', async () => {
  const card = { memory_mib: 10 * 1024 };
  const whole = await onOwnCard(card);
  expect(whole.result).toMatchObject({ status: 'ok', details: { largestBytes: 8 * GIB } });
  const { result } = await onOwnCard({ ...card, mig: '3+3' });
  expect(result).toMatchObject({ status: 'ok', details: { limitBytes: 5 * GIB, largestBytes: 2 * GIB } });
});

it('is unsupported below a limit of 1.25 GiB', async () => {
  const result = await measured({ ...pooled('1GiB'), memory: '1GiB' });
  expect(result).toMatchObject({ status: 'unsupported', value: null, reason: '1 GiB is less than 1.25 GiB' });
});

it('does not trust a layer that reports more memory than it grants', async () => {
  const result = await measured({ interpose: `quota=2GiB,context=${CONTEXT_MIB}MiB,shows=64GiB` });
  expect(result).toMatchObject({ status: 'failed', value: null });
  expect(result.reason).toMatch(/CUDA_ERROR_OUT_OF_MEMORY/);
});

it('is invalid if granted memory cannot be written', async () => {
  const result = await measured(pooled('4GiB', ',grants=nothing'));
  expect(result).toMatchObject({ status: 'invalid', value: null });
  expect(result.reason).toMatch(/^A large allocation succeeded but cannot be written/);
});

it('is invalid if the card does not hold the granted memory', async () => {
  const result = await measured({}, { processMemory: () => Promise.resolve(CONTEXT_MIB * MIB) });
  expect(result).toMatchObject({ status: 'invalid', value: null });
  expect(result.reason).toMatch(/^NVML shows the memory of every size: cuMemAlloc of 1 GiB: NVML shows 0 B;/);
});

it('checks the whole card if the process is not listed, and nothing without NVML', async () => {
  const unlisted = { processMemory: () => Promise.resolve(null) };
  expect(backed(await measured({}, unlisted))).toMatchObject({ passed: true });
  const blind = { ...unlisted, cardMemory: () => Promise.resolve(null) };
  const result = await measured({}, blind);
  expect(backed(result)).toMatchObject({ passed: 'not checked' });
  expect(result.status).toBe('ok');
});

it('frees each block before the next, and keeps none', async () => {
  const record = emptyFolder();
  await measured({ record });
  const [recorded] = recordedByProcess(record).filter(({ calls }) => calls.some(({ bytes }) => bytes === 8 * GIB));
  const large = (name: string) => (recorded as Recorded).named(name).filter(({ bytes }) => bytes >= GIB);
  expect(large('cuMemAlloc_v2')).toHaveLength(4 * (COUNT + BARE) + 1);
  expect((recorded as Recorded).named('cuMemUnmap')).toHaveLength(4 * (COUNT + BARE));
  expect((recorded as Recorded).named('cuMemRelease')).toHaveLength(4 * (COUNT + BARE));
  expect((recorded as Recorded).named('cuMemFree_v2').length).toBe(
    (recorded as Recorded).named('cuMemAlloc_v2').length,
  );
});

/** START-006 on the simulated GPU: how many simultaneous starts slow each other down. */
import { mean } from 'simple-statistics';
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../lib/results/document.js';
import { median, type MedianEstimate } from '../../lib/stats/median.js';
import { type Point, slope } from '../../lib/stats/slope.js';
import { tCritical } from '../../lib/stats/student-t.js';
import { measureProcesses, type Settings } from '../native/child.js';
import { COLD_READINGS, type RecordedStart, startOf } from '../native/recorded-starts.js';
import { onOneProcessor } from '../processors.js';
import { undisturbed } from '../undisturbed.js';

interface StartsRow {
  processes: number;
  releases: number;
  tries: number[];
  meanMs: number;
  ci95: [number, number] | null;
  beforeInitMs: number;
  fromInitMs: number;
  p99Ms: number | null;
  totalMs: number;
  addedMs: number | null;
  initMs: number;
  contextMs: number;
  spawnMs: number;
  slowestSpawnMs: number;
}
interface Slope {
  msPerProcess: number;
  ci95: [number, number] | null;
}

/** A single one delayed by a busy machine does not change a median of three. */
const RELEASES = 3;
const MANY = 10;

async function concurrentStarts(sim: Settings) {
  const request = ['measureConcurrentStarts', { iterations: RELEASES, samples: true }] as const;
  const { results, processes } = await undisturbed(
    () => measureProcesses([request], { sim }),
    (measured) => measured.results,
  );
  // The first process is the one that shows how many have room.
  const starts = processes.flatMap((process) => startOf(process, 'primary') ?? []).slice(1);
  const result = results[0] as MetricResult;
  // Releases that came too early are in the record, but in no result.
  const [alone, together] = (result.details.starts as StartsRow[]).map(({ processes: count, tries }) =>
    tries.map((n) => starts.splice(0, n * count).slice(-count)),
  ) as [RecordedStart[][], RecordedStart[][]];
  expect(starts).toEqual([]);
  return { result, alone, together };
}

type Recording = Awaited<ReturnType<typeof concurrentStarts>>;

const MS = 1e6;
const startedAt = (starts: readonly RecordedStart[]) => Math.min(...starts.map(({ initAt }) => initAt));
/** Times from the first call of any process; the release was earlier by the time of loading the driver. */
const sinceFirstCall = (starts: readonly RecordedStart[]) =>
  starts.map(({ resultAt }) => (resultAt - startedAt(starts)) / MS);
const toleranceMs = (starts: readonly RecordedStart[]) =>
  (COLD_READINGS * Math.max(...starts.map(({ recorded }) => recorded.readingNs))) / MS;

/** The fraction that a busy machine may have delayed after the last recorded call. */
const DELAYED = 0.2;
/** The resulting delay in the mean of a release. */
const DELAY_MS = 60;

/**
 * How long before its first call each release was, the same for all its processes. A delay only increases a time, so no
 * difference between the two sorted lists is too small, and the smallest is from processes without delay.
 */
function releasedBefore({ result, together }: Recording): number[] {
  const samples = result.samples as number[];
  expect(samples).toHaveLength(RELEASES * MANY);
  return together.map((starts, i) => {
    const measured = samples.slice(i * MANY, (i + 1) * MANY).sort((a, b) => a - b);
    const recorded = sinceFirstCall(starts).sort((a, b) => a - b);
    const before = Math.min(...measured.map((one, k) => one - (recorded[k] as number)));
    expect(before).toBeGreaterThan(0);
    // The cost of the whole loop between a call and the next reading of the clock.
    const found = recorded.filter((one) =>
      measured.some((other) => other - one >= before - 1e-6 && other - one < before + toleranceMs(starts)),
    );
    expect(found.length, `${measured.join(' ')} for ${recorded.join(' ')}`).toBeGreaterThanOrEqual(
      (1 - DELAYED) * MANY,
    );
    return before;
  });
}

/** A median of measured times is never below that of the recorded ones, and above it by few ranks at most. */
function expectMedian(measured: number, recorded: readonly number[], moreMs: number): void {
  const sorted = [...recorded].sort((a, b) => a - b);
  const rank = Math.floor(sorted.length / 2) + Math.ceil((sorted.length * DELAYED) / 2);
  expect(measured).toBeGreaterThanOrEqual(median(sorted).value - 1e-6);
  expect(measured).toBeLessThan((sorted[Math.min(rank, sorted.length - 1)] as number) + moreMs);
}

function expectRows({ result, alone, together }: Recording, before: number[]): void {
  const rows = result.details.starts as StartsRow[];
  expect(rows.map(({ processes, releases }) => [processes, releases])).toEqual([
    [1, RELEASES],
    [MANY, RELEASES],
  ]);
  for (const [i, releases] of [alone, together].entries()) {
    const row = rows[i] as StartsRow;
    const starts = releases.flat();
    const moreMs = toleranceMs(starts);
    for (const step of ['init', 'context'] as const) {
      const recorded = starts.map(({ stepsNs }) => stepsNs[step] / MS);
      expectMedian(row[`${step}Ms`], recorded, moreMs);
    }
    const recorded = mean(starts.map(({ initAt, resultAt }) => (resultAt - initAt) / MS));
    expect(row.fromInitMs).toBeGreaterThan(recorded - 1e-6);
    expect(row.fromInitMs).toBeLessThan(recorded + moreMs + DELAY_MS / releases.length);
    expect(row.spawnMs).toBeGreaterThan(0);
    expect(row.slowestSpawnMs).toBeGreaterThanOrEqual(row.spawnMs);
    expect(row.beforeInitMs).toBeGreaterThan(0);
  }
  const [first, most] = [Math.min(...before), Math.max(...before)];
  const totals = together.map((release) => Math.max(...sinceFirstCall(release)));
  expectMedian((rows[1] as StartsRow).totalMs - first, totals, most - first + toleranceMs(together.flat()));
  expect(result.value).toBe(rows[1]?.meanMs);
  expect(result.value).toBeCloseTo(mean(result.samples as number[]), 9);
  expect(rows[1]?.p99Ms).toBeNull();
  expect(rows[0]?.addedMs).toBeNull();
  expect(rows[1]?.addedMs).toBeCloseTo(((rows[1]?.meanMs ?? NaN) - (rows[0]?.meanMs ?? NaN)) / (MANY - 1), 9);
}

/** The slopes of the published times, each of which the record confirms. */
function expectSlopes({ result }: Recording): void {
  const samples = result.samples as number[];
  const [{ meanMs, totalMs, ci95 }] = result.details.starts as [StartsRow];
  // The interval is symmetric on a logarithmic scale.
  const half = (meanMs * Math.log((ci95?.[1] ?? Number.NaN) / meanMs)) / tCritical(0.05, RELEASES - 1);
  // Bounds for three times of this mean with this interval.
  const apart = half * Math.sqrt(RELEASES);
  // For a single process the total is its time: a median of three is that close to their mean.
  expect(Math.abs(totalMs - meanMs)).toBeLessThanOrEqual(apart * Math.sqrt(2 / 3) + 1e-6);
  const alone = [-apart, 0, apart].map((more): Point => [1, meanMs + more]);
  const slopes = result.details.slopes as { mean: Slope; total: Slope };
  const ofRelease = { mean, total: (times: number[]) => Math.max(...times) };
  for (const name of ['mean', 'total'] as const) {
    const together = Array.from({ length: RELEASES }, (_, i): Point => {
      return [MANY, ofRelease[name](samples.slice(i * MANY, (i + 1) * MANY))];
    });
    const { value, ci95: interval } = slope([...alone, ...together]) as MedianEstimate;
    expect(slopes[name].msPerProcess).toBeCloseTo(value, 9);
    for (const end of [0, 1]) expect(slopes[name].ci95?.[end]).toBeCloseTo(interval?.[end] as number, 6);
  }
}

function expectRecorded(recording: Recording): void {
  const { result } = recording;
  expect([result.status, result.reason]).toEqual(['ok', undefined]);
  expect(result).toMatchObject({ processes: RELEASES * MANY, details: { largest: MANY, topology: 'shared' } });
  expectRows(recording, releasedBefore(recording));
  expectSlopes(recording);
}

const oneProcessor = onOneProcessor('START-006, whose starts cannot be concurrent there');

describe.skipIf(oneProcessor)('START-006', () => {
  const settings = { init_ms: 40, context_ms: 5, context_mib: 100 };

  it('recovers starts that wait for one another', async () => {
    const recording = await concurrentStarts({ ...settings, init_lock: 1 });
    expectRecorded(recording);
    // In the record the last of n waits for all the others.
    for (const starts of recording.together)
      expect(Math.max(...sinceFirstCall(starts))).toBeGreaterThan(MANY * settings.init_ms);
  });

  it('recovers independent starts', async () => expectRecorded(await concurrentStarts(settings)));
});

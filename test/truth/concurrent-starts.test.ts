/** START-006 on the simulated GPU: what the starts of many processes at once cost each other. */
import { mean } from 'simple-statistics';
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../lib/document.js';
import { median } from '../../lib/stats/median.js';
import { type Point, slope } from '../../lib/stats/slope.js';
import { measureProcesses, type Settings } from '../native/child.js';
import { COLD_READINGS, type RecordedStart, startOf } from '../native/recorded-starts.js';
import { type Estimate, expectRecovered, type Truth } from '../native/recovered.js';
import { onOneProcessor } from '../processors.js';

interface StartsRow {
  processes: number;
  releases: number;
  tries: number[];
  meanMs: number;
  p99Ms: number | null;
  totalMs: number;
  initMs: number;
  contextMs: number;
}
interface Slope {
  msPerProcess: number;
  ci95: [number, number] | null;
}
const ofSlope = ({ msPerProcess, ci95 }: Slope): Estimate => ({ value: msPerProcess, ci95 });

const RELEASES = 2;
const MANY = 10;

async function concurrentStarts(sim: Settings) {
  const request = ['measureConcurrentStarts', { iterations: RELEASES, samples: true }] as const;
  const { results, processes } = await measureProcesses([request], { sim });
  // The first is the one that shows how many have room.
  const starts = processes.flatMap((process) => startOf(process, 'primary') ?? []).slice(1);
  const result = results[0] as MetricResult;
  // Those of a release that came too early are in the record, and in no result.
  const [alone, together] = (result.details.starts as StartsRow[]).map(({ processes: count, tries }) =>
    tries.map((n) => starts.splice(0, n * count).slice(-count)),
  ) as [RecordedStart[][], RecordedStart[][]];
  expect(starts).toEqual([]);
  return { result, alone, together };
}

type Recording = Awaited<ReturnType<typeof concurrentStarts>>;

const MS = 1e6;
const startedAt = (starts: readonly RecordedStart[]) => Math.min(...starts.map(({ initAt }) => initAt));
/** From the first call of any of them: the release was before that, by what loading the driver took. */
const sinceFirstCall = (starts: readonly RecordedStart[]) =>
  starts.map(({ resultAt }) => (resultAt - startedAt(starts)) / MS);
const toleranceMs = (starts: readonly RecordedStart[]) =>
  (COLD_READINGS * Math.max(...starts.map(({ recorded }) => recorded.readingNs))) / MS;

/** How long before its first call each release was: the same for all its processes, and never after that call. */
function releasedBefore({ result, together }: Recording): number[] {
  const samples = result.samples as number[];
  expect(samples).toHaveLength(RELEASES * MANY);
  return together.map((starts, i) => {
    const measured = samples.slice(i * MANY, (i + 1) * MANY).sort((a, b) => a - b);
    const recorded = sinceFirstCall(starts).sort((a, b) => a - b);
    const before = measured.map((one, k) => one - (recorded[k] as number));
    // The whole loop's cost between a call and the next reading of the clock.
    expect(Math.max(...before) - Math.min(...before)).toBeLessThan(toleranceMs(starts));
    expect(Math.min(...before)).toBeGreaterThan(0);
    return median(before).value;
  });
}

/**
 * What one more process costs as recorded. Loading the driver is in the estimates and not in the record: of ten it takes
 * what was found, of one alone between nothing and that, each time anew.
 */
function recordedSlope(
  { alone, together }: Recording,
  before: number[],
  ofRelease: (times: number[]) => number,
): Truth {
  const loading = Math.max(...before);
  const through = (loadingAlone: (release: number) => number) => {
    const points = [
      ...alone.map((starts, i): Point => [1, ofRelease(sinceFirstCall(starts)) + loadingAlone(i)]),
      ...together.map((starts, i): Point => [MANY, ofRelease(sinceFirstCall(starts)) + (before[i] as number)]),
    ];
    return slope(points) as { value: number; ci95: [number, number] };
  };
  const { value } = through(() => loading / 2);
  const apart = [0, 1].map((first) => through((release) => ((first + release) % 2) * loading).ci95);
  const widest = Math.max(...apart.map(([low, high]) => high - low));
  const tolerance = (loading / 2 + 2 * toleranceMs(together.flat())) / (MANY - 1);
  // The interval of a slope through few releases scatters itself: twice as wide as the recorded one is no surprise.
  return { truth: value, tolerance, resolution: 2 * tolerance + 2 * widest };
}

function expectRows({ result, alone, together }: Recording): void {
  const rows = result.details.starts as StartsRow[];
  expect(rows.map(({ processes, releases }) => [processes, releases])).toEqual([
    [1, RELEASES],
    [MANY, RELEASES],
  ]);
  for (const [i, starts] of [alone.flat(), together.flat()].entries()) {
    const { initMs, contextMs } = rows[i] as StartsRow;
    const stepMs = (step: 'init' | 'context') => median(starts.map(({ stepsNs }) => stepsNs[step])).value / MS;
    expect(Math.abs(initMs - stepMs('init'))).toBeLessThan(toleranceMs(starts));
    expect(Math.abs(contextMs - stepMs('context'))).toBeLessThan(toleranceMs(starts));
  }
  expect(result.value).toBe(rows[1]?.meanMs);
  expect(result.value).toBeCloseTo(mean(result.samples as number[]), 9);
  expect(rows[1]?.p99Ms).toBeNull();
}

function expectRecorded(recording: Recording): void {
  const { result } = recording;
  expect([result.status, result.reason]).toEqual(['ok', undefined]);
  expect(result).toMatchObject({ processes: RELEASES * MANY, details: { largest: MANY, topology: 'shared' } });
  expectRows(recording);
  const before = releasedBefore(recording);
  const slopes = result.details.slopes as { mean: Slope; total: Slope };
  expectRecovered([
    ['total', ofSlope(slopes.total), recordedSlope(recording, before, (times) => Math.max(...times))],
    ['mean', ofSlope(slopes.mean), recordedSlope(recording, before, mean)],
  ]);
}

const oneProcessor = onOneProcessor('START-006, whose starts cannot be concurrent there');

describe.skipIf(oneProcessor)('START-006', () => {
  const settings = { init_ms: 40, context_ms: 5, context_mib: 100 };

  it('recovers the starts that wait for one another', async () => {
    const recording = await concurrentStarts({ ...settings, init_lock: 1 });
    expectRecorded(recording);
    // In the record the last of n waits for all the others.
    for (const starts of recording.together)
      expect(Math.max(...sinceFirstCall(starts))).toBeGreaterThan(MANY * settings.init_ms);
  });

  it('recovers the starts that do not', async () => expectRecorded(await concurrentStarts(settings)));
});

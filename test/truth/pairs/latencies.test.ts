/** Measured durations on the simulated GPU match the recorded ones: for every metric and every row it publishes. */
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { measureRecorded, type Request, type Settings } from '../../native/child.js';
import { durationOf, LOOP_READINGS, type Recorded, WRITING_NS } from '../../native/record.js';
import { recordedLaunches } from '../../native/recorded-launches.js';
import { allocationsInPairs, type PairRow } from '../../native/recorded-pairs.js';
import { median } from '../../../lib/stats/median.js';
import { type Estimate, expectRecovered, miss } from '../../native/recovered.js';
import { onOneProcessor } from '../../processors.js';
import { isDisturbed, undisturbed } from '../../undisturbed.js';

const KIB = 1024;
const MIB = KIB ** 2;
const SIZES = [4 * KIB, 64 * KIB, 2 * MIB, 64 * MIB, 1024 * MIB];

/** No two costs of a set are equal or simple multiples, so a row that measures another call is found. */
const SETTINGS = {
  cheap: { launch_ns: 1500, start_ns: 1100, kernel_ns: 700, alloc_us: 15, free_us: 11, vmm_us: 9, alloc_async_us: 4 },
  expensive: {
    launch_ns: 6000,
    start_ns: 4700,
    kernel_ns: 2900,
    alloc_us: 62,
    free_us: 47,
    vmm_us: 37,
    alloc_async_us: 26,
  },
  mixed: {
    launch_ns: 3800,
    start_ns: 600,
    kernel_ns: 5100,
    alloc_us: 33,
    free_us: 71,
    vmm_us: 23,
    alloc_async_us: 61,
  },
} as const;
type Name = keyof typeof SETTINGS;
const NAMES = Object.keys(SETTINGS) as Name[];

interface CallRow {
  call: string;
  submitUs: number;
  submitCi95: [number, number];
  startUs: number | null;
  startCi95: [number, number] | null;
  roundTripUs: number;
  roundTripCi95: [number, number];
  count: number;
  mapping: { residualNs: number; tickNs: number; driftPpm: number };
  invalid?: string;
}
interface SizeRow {
  api?: string;
  order?: string;
  bytes: number;
  valueUs: number;
  count: number;
  ci95: [number, number];
}
interface FunctionRow {
  name: string;
  intercepted: boolean;
  overheadNs: number;
  hookedNs: number;
  bareNs: number;
  ci95: [number, number];
}
const rowsOf = <T>(result: MetricResult, key: string) => result.details[key] as T[];
const ofUs = (row: { valueUs: number; ci95: [number, number] | null }): Estimate => ({
  value: row.valueUs,
  ci95: row.ci95,
});

describe('recovered', () => {
  const truth = { truth: 100, tolerance: 5, resolution: 4 };
  it.each([
    ['within the tolerance', { value: 104.9, ci95: [104, 105] }, null],
    ['within the 99.9 % interval', { value: 106.5, ci95: [102.5, 110.5] }, null],
    ['beyond both', { value: 107, ci95: [103, 111] }, /off 100 by 7/],
    ['below by as much', { value: 93, ci95: [92, 94] }, /off 100 by -7/],
    ['within the interval, but of the very calls', { value: 106.5, ci95: [102.5, 110.5] }, /off 100 by/, true],
    ['with a wide interval', { value: 100, ci95: [93, 108] }, null],
    ['without resolution', { value: 100, ci95: [92, 109] }, /half-width 8\.5/],
    ['without interval, within that of the record', { value: 106.5, ci95: null }, null],
    ['without interval, beyond that of the record', { value: 107, ci95: null }, /off 100 by/],
    ['without estimate', { value: null, ci95: null }, /no estimate/],
    ['not a number', { value: Number.NaN, ci95: [99, 101] }, /no estimate/],
    ['with a broken interval', { value: 100, ci95: [Number.NaN, 101] }, /half-width NaN/],
  ] as [string, Estimate, RegExp | null, boolean?][])('%s', (_, estimate, wanted, sameCalls = false) => {
    const found = miss(estimate, { ...truth, sameCalls });
    if (wanted) expect(found).toMatch(wanted);
    else expect(found).toBeNull();
  });
});

/**
 * On a busy machine, host and simulated device may never run at the same time, so no clock exchange is tight: a row
 * then reports `invalid: clock mapping`, as it must, and is measured again. Every row with a value must be right.
 */
const MOST_ATTEMPTS = 10;

interface Launches {
  result: MetricResult;
  recorded: Recorded;
}

async function launches(sim: Settings, options: Request[1] = { iterations: 250 }): Promise<Launches[]> {
  const seen: Launches[] = [];
  const mapped = new Set<string>();
  let attempts = 0;
  while (mapped.size < CALLS.length) {
    if (attempts === MOST_ATTEMPTS) throw new Error(`No clock mapping: ${JSON.stringify(seen.at(-1)?.result.details)}`);
    const { results, recorded } = await measureRecorded([['measureKernelLaunch', options]], { sim });
    const [result] = results;
    if (!result) throw new Error('unreachable');
    attempts++;
    // If the device did not run for long, it answered no clock exchange, and there are no rows.
    if (isDisturbed(result) && !result.details.calls) continue;
    seen.push({ result, recorded });
    for (const { call, invalid } of rowsOf<CallRow>(result, 'calls')) if (!invalid) mapped.add(call);
  }
  return seen;
}

const CALLS = ['cuLaunchKernel', 'cuLaunchKernelEx', 'cuGraphLaunch'];
/**
 * Tolerance for a launch after a pause, whose code and data other programs have evicted from the caches: the way to the
 * record's first reading took up to 180 ns more beside compilers.
 */
const ISOLATED_READINGS = 10;

function expectLaunches(seen: Launches[]): void {
  for (const { result, recorded } of seen) {
    const calls = rowsOf<CallRow>(result, 'calls');
    expect(calls.map(({ call }) => call)).toEqual(CALLS);
    for (const row of calls) {
      const { submits, starts, roundTrips } = recordedLaunches(recorded, row.call);
      expect(submits.length).toBeGreaterThanOrEqual(row.count);
      const us = { samples: row.count, unitNs: 1e3, readings: ISOLATED_READINGS };
      expectRecovered([
        [`${row.call} submit`, { value: row.submitUs, ci95: row.submitCi95 }, recorded.truth(submits, us)],
        [
          `${row.call} round trip`,
          { value: row.roundTripUs, ci95: row.roundTripCi95 },
          recorded.truth(roundTrips, { ...us, calls: 2 }),
        ],
      ]);
      if (row.invalid) expect(row).toMatchObject({ startUs: null, startCi95: null });
      else {
        const truth = recorded.truth(starts, { ...us, moreNs: 2 * row.mapping.residualNs + row.mapping.tickNs });
        // Few visits, or visits that depend on each other, have no interval: the variation of the record decides.
        const own = row.startUs ?? Number.NaN;
        const ci95 = row.startCi95 ?? ([own - truth.resolution, own + truth.resolution] as const);
        expectRecovered([[`${row.call} start`, { value: row.startUs, ci95 }, truth]]);
      }
    }
    if (result.status === 'ok') expect([result.value, result.ci95]).toEqual([calls[0]?.startUs, calls[0]?.startCi95]);
    else expect(result).toMatchObject({ status: 'invalid', reason: 'clock mapping', value: null, ci95: null });
  }
}

const oneProcessor = onOneProcessor('the launches of OH-001, whose host and simulated device have to run at once');

/** Time between the two ends of a clock mapping: twenty launches, each after a pause of 50 to 200 us. */
const VISIT_NS = 20 * 125_000;

describe.skipIf(oneProcessor)('OH-001 recovers the durations of launches', () => {
  it.each(NAMES)('%s', async (name) => expectLaunches(await launches(SETTINGS[name])));

  it('with the adaptive stop', async () =>
    expectLaunches(await launches({ launch_ns: 2200, start_ns: 1700, kernel_ns: 900 }, {})));

  it.each(['dlsym', 'linked'] as const)('on the %s path', async (path) =>
    expectLaunches(await launches(SETTINGS.cheap, { path, iterations: 250 })),
  );

  it('with any step, offset and drift of the device clock', async () => {
    const clock = { timer_step_ns: 8, clock_offset_ns: 123_456_789, clock_drift_ppm: -60 };
    const seen = await launches({ ...SETTINGS.cheap, ...clock });
    expectLaunches(seen);
    for (const { mapping, invalid } of seen.flatMap(({ result }) => rowsOf<CallRow>(result, 'calls'))) {
      if (invalid) continue;
      expect(mapping.tickNs).toBe(clock.timer_step_ns);
      // The drift is an exact relation of two clocks: what remains is the residual of the exchanges at either end of a
      // visit (large on a busy machine) over the length of a visit.
      const residualPpm = (1e6 * mapping.residualNs) / VISIT_NS;
      expect(Math.abs(mapping.driftPpm - clock.clock_drift_ppm)).toBeLessThan(5 + residualPpm);
    }
  });
});

const us = (samples: number) => ({ samples, unitNs: 1e3 });

describe('OH-002 recovers the durations of allocations', () => {
  it.each(NAMES)('%s', async (name) => {
    // One block of samples per row.
    const requests: Request[] = [['measureMemoryAllocation', { iterations: 50 }]];
    const { results, recorded } = await measureRecorded(requests, { sim: SETTINGS[name] });
    const result = results[0] as MetricResult;
    const rows = rowsOf<SizeRow>(result, 'sizes');
    // The live blocks and the warm-up are allocated before the counted ones, the pairs after all rows.
    const [pairs] = rowsOf<PairRow>(result, 'pairs') as [PairRow];
    const counted = (valuesNs: number[], { api, bytes, count }: SizeRow) => {
      const isPaired = api === 'cuMemAlloc' && bytes === pairs.bytes;
      const end = valuesNs.length - (isPaired ? allocationsInPairs(pairs) : 0);
      return valuesNs.slice(end - count, end);
    };
    expect(rows.map(({ api, bytes }) => [api, bytes])).toEqual([
      ...SIZES.map((bytes) => ['cuMemAlloc', bytes]),
      ['cuMemCreate', 2 * MIB],
      ['cuMemAllocAsync', 2 * MIB],
    ]);
    const ofBytes = (call: string, wanted: number) =>
      recorded
        .named(call)
        .filter(({ bytes }) => bytes === wanted)
        .map(durationOf);
    // The time from the entry of cuMemCreate to the return of cuMemSetAccess, with cuMemMap in between.
    const created = recorded.named('cuMemCreate').map(({ entered }) => entered);
    const accessible = recorded.named('cuMemSetAccess').map(({ left }) => left);
    const virtual = created.map((entered, i) => (accessible[i] as number) - entered);
    expectRecovered(
      rows.map((row) => {
        const name = `${row.api} ${row.bytes}`;
        if (row.api === 'cuMemCreate')
          return [name, ofUs(row), recorded.truth(counted(virtual, row), { ...us(row.count), calls: 3 })];
        const call = row.api === 'cuMemAlloc' ? 'cuMemAlloc_v2' : String(row.api);
        return [name, ofUs(row), recorded.truth(counted(ofBytes(call, row.bytes), row), us(row.count))];
      }),
    );
    const headline = rows.find(({ api, bytes }) => api === 'cuMemAlloc' && bytes === 2 * MIB);
    expect(result).toMatchObject({ status: 'ok', value: headline?.valueUs, ci95: headline?.ci95 });
  });
});

describe('OH-003 recovers the durations of frees', () => {
  /** Measured frees follow an idle context; clean-up frees follow one another. */
  const recordedFrees = (recorded: Recorded, wanted: number) =>
    recorded
      .following('cuMemFree_v2', (before, { bytes }) => before.name === 'cuCtxSynchronize' && bytes === wanted)
      .map(durationOf);
  /** Rows of one size are in the order of measurement: each has its part of the record, warm-up first. */
  const partOf = (rows: readonly SizeRow[], row: SizeRow, recorded: Recorded) => {
    const ofSize = rows.filter(({ bytes }) => bytes === row.bytes);
    const frees = recordedFrees(recorded, row.bytes);
    const length = frees.length / ofSize.length;
    const end = (ofSize.indexOf(row) + 1) * length;
    return frees.slice(end - row.count, end);
  };
  const expectFrees = (rows: SizeRow[], recorded: Recorded) =>
    expectRecovered(
      rows.map((row) => [
        `${row.bytes} ${row.order}`,
        ofUs(row),
        recorded.truth(partOf(rows, row, recorded), us(row.count)),
      ]),
    );

  it.each(NAMES)('%s', async (name) => {
    const requests: Request[] = [['measureMemoryFree', { iterations: 60 }]];
    const { results, recorded } = await measureRecorded(requests, { sim: SETTINGS[name] });
    const result = results[0] as MetricResult;
    const rows = rowsOf<SizeRow>(result, 'sizes');
    const rowNames = rows.map(({ bytes, order }) => `${bytes} ${order}`).sort();
    const others = SIZES.filter((bytes) => bytes !== 2 * MIB).map((bytes) => `${bytes} fifo`);
    expect(rowNames).toEqual([...others, ...['fifo', 'lifo', 'random'].map((order) => `${2 * MIB} ${order}`)].sort());
    expectFrees(rows, recorded);
    const headline = rows.find(({ order, bytes }) => order === 'fifo' && bytes === 2 * MIB);
    expect(result).toMatchObject({ status: 'ok', value: headline?.valueUs, ci95: headline?.ci95 });
  });

  it('in every order at every size at tier thorough', async () => {
    const requests: Request[] = [['measureMemoryFree', { iterations: 60, tier: 'thorough' }]];
    const { results, recorded } = await measureRecorded(requests, { sim: { free_us: 7, alloc_us: 3 } });
    const rows = rowsOf<SizeRow>(results[0] as MetricResult, 'sizes');
    expect(rows).toHaveLength(15);
    expectFrees(rows, recorded);
  });
});

describe('OH-005 finds nothing if nothing is hooked', () => {
  it.each([SETTINGS.cheap, SETTINGS.expensive])('launch_ns $launch_ns', async (sim) => {
    const settings = { sim: { ...sim, recorded: 'cuLaunchKernel' } };
    const { results, recorded } = await undisturbed(
      () => measureRecorded([['measureApiInterception']], settings),
      (measured) => measured.results,
    );
    const result = results[0] as MetricResult;
    const functions = rowsOf<FunctionRow>(result, 'functions');
    expect(functions.length).toBeGreaterThanOrEqual(25);
    expect(result.details.missing).toEqual([]);
    expect(functions.filter(({ intercepted }) => intercepted)).toEqual([]);
    // Both calls of a pair are the same function: any difference is noise, and less than a reading of the clock.
    const nothing = { truth: 0, tolerance: recorded.readingNs, resolution: recorded.readingNs };
    expectRecovered(
      functions.map(({ name, overheadNs, ci95 }) => [name, { value: overheadNs, ci95 }, nothing] as const),
    );
    expectRecovered([['headline', result as Estimate, nothing]]);
    expect(result.status).toBe('ok');
    // The two absolute times of a row are that call's own.
    const launch = functions.find(({ name }) => name === 'cuLaunchKernel') as FunctionRow;
    const took = median(recorded.named('cuLaunchKernel').map(durationOf)).value;
    for (const value of [launch.hookedNs, launch.bareNs])
      expect(Math.abs(value - took)).toBeLessThan(LOOP_READINGS * recorded.readingNs + WRITING_NS);
  });
});

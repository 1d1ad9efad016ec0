/** What is measured on the simulated GPU recovers its settings: for every metric and every row it publishes. */
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/document.js';
import { measure, type Request } from '../../native/child.js';
import { type Estimate, expectRecovered, miss } from '../../native/recovered.js';

const KIB = 1024;
const MIB = KIB ** 2;
const SIZES = [4 * KIB, 64 * KIB, 2 * MIB, 64 * MIB, 1024 * MIB];

/** Chosen so that no two costs of a set are equal or a simple multiple: a row that measures another call is found. */
const SETTINGS = {
  cheap: { launch_ns: 1500, start_ns: 1100, kernel_ns: 700, alloc_us: 15, free_us: 11, vmm_us: 9, alloc_async_us: 4 },
  dear: {
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
  mapping: { residualNs: number; tickNs: number; driftPpm: number };
  invalid?: string;
}
interface SizeRow {
  api?: string;
  order?: string;
  bytes: number;
  valueUs: number;
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
    ['without resolution', { value: 100, ci95: [95, 104] }, /half-width 4\.5/],
    ['without interval', { value: 100, ci95: null }, /no interval/],
    ['without estimate', { value: null, ci95: null }, /no estimate/],
    ['not a number', { value: Number.NaN, ci95: [99, 101] }, /no estimate/],
    ['with a broken interval', { value: 100, ci95: [Number.NaN, 101] }, /half-width NaN/],
  ] as [string, Estimate, RegExp | null][])('%s', (_, estimate, wanted) => {
    const found = miss(estimate, truth);
    if (wanted) expect(found).toMatch(wanted);
    else expect(found).toBeNull();
  });
});

/**
 * While the machine is busy, host and simulated device may never run at once, so no clock exchange is tight: a row then
 * says `invalid: clock mapping`, as it must, and is asked for again. Every row that was vouched for has to be right.
 */
const MOST_ATTEMPTS = 10;

async function launches(sim: Record<string, number>, options: Request[1] = { iterations: 250 }) {
  const seen: MetricResult[] = [];
  const mapped = new Set<string>();
  while (mapped.size < CALLS.length) {
    if (seen.length === MOST_ATTEMPTS) throw new Error(`No clock mapping: ${JSON.stringify(seen.at(-1)?.details)}`);
    const [result] = await measure([['measureKernelLaunch', options]], { sim });
    if (!result) throw new Error('unreachable');
    seen.push(result);
    for (const { call, invalid } of rowsOf<CallRow>(result, 'calls')) if (!invalid) mapped.add(call);
  }
  return seen;
}

const CALLS = ['cuLaunchKernel', 'cuLaunchKernelEx', 'cuGraphLaunch'];
/** Beside the call a sample holds one reading of the clock: 30 ns, twice that beside a busy hyper-thread. */
const CLOCK_US = 0.1;
const LAUNCH_RESOLUTION_US = 0.05;

function expectLaunches(results: MetricResult[], s: { launch_ns: number; start_ns: number; kernel_ns: number }): void {
  const submit = s.launch_ns / 1e3;
  const start = submit + s.start_ns / 1e3;
  const end = start + s.kernel_ns / 1e3;
  for (const result of results) {
    const calls = rowsOf<CallRow>(result, 'calls');
    expect(calls.map(({ call }) => call)).toEqual(CALLS);
    for (const row of calls) {
      const mapping = (40 + 2 * row.mapping.residualNs) / 1e3;
      const host = { tolerance: CLOCK_US, resolution: LAUNCH_RESOLUTION_US };
      expectRecovered([
        [`${row.call} submit`, { value: row.submitUs, ci95: row.submitCi95 }, { truth: submit, ...host }],
        [
          `${row.call} round trip`,
          { value: row.roundTripUs, ci95: row.roundTripCi95 },
          // Three clock readings, and the wait's own way home.
          { truth: end, tolerance: 2 * CLOCK_US, resolution: LAUNCH_RESOLUTION_US },
        ],
      ]);
      if (row.invalid) expect(row).toMatchObject({ startUs: null, startCi95: null });
      else
        expectRecovered([
          [
            `${row.call} start`,
            { value: row.startUs, ci95: row.startCi95 },
            { truth: start, tolerance: mapping, resolution: LAUNCH_RESOLUTION_US },
          ],
        ]);
    }
    if (result.status === 'ok') expect([result.value, result.ci95]).toEqual([calls[0]?.startUs, calls[0]?.startCi95]);
    else expect(result).toMatchObject({ status: 'invalid', reason: 'clock mapping', value: null, ci95: null });
  }
}

describe('OH-001 recovers launch_ns, start_ns and kernel_ns', () => {
  it.each(NAMES)('%s', async (name) => expectLaunches(await launches(SETTINGS[name]), SETTINGS[name]));

  it('with the adaptive stop', async () => {
    const sim = { launch_ns: 2200, start_ns: 1700, kernel_ns: 900 };
    expectLaunches(await launches(sim, {}), sim);
  });

  it.each(['dlsym', 'linked'] as const)('on the %s path', async (path) =>
    expectLaunches(await launches(SETTINGS.cheap, { path, iterations: 250 }), SETTINGS.cheap),
  );

  it('whatever the device clock: its step, offset and drift', async () => {
    const clock = { timer_step_ns: 8, clock_offset_ns: 123_456_789, clock_drift_ppm: -60 };
    const results = await launches({ ...SETTINGS.cheap, ...clock });
    expectLaunches(results, SETTINGS.cheap);
    for (const { mapping, invalid } of results.flatMap((result) => rowsOf<CallRow>(result, 'calls'))) {
      if (invalid) continue;
      expect(mapping.tickNs).toBe(clock.timer_step_ns);
      expect(Math.abs(mapping.driftPpm - clock.clock_drift_ppm)).toBeLessThan(5);
    }
  });
});

/** Clock readings, and what the caller adds around the call. */
const ALLOCATION = { tolerance: 0.2, resolution: 0.15 };

describe('OH-002 recovers alloc_us, vmm_us and alloc_async_us', () => {
  it.each(NAMES)('%s', async (name) => {
    const sim = SETTINGS[name];
    const [result] = await measure([['measureMemoryAllocation', { iterations: 100 }]], { sim });
    const rows = rowsOf<SizeRow>(result as MetricResult, 'sizes');
    expect(rows.map(({ api, bytes }) => [api, bytes])).toEqual([
      ...SIZES.map((bytes) => ['cuMemAlloc', bytes]),
      ['cuMemCreate', 2 * MIB],
      ['cuMemAllocAsync', 2 * MIB],
    ]);
    const truths: Record<string, number> = {
      cuMemAlloc: sim.alloc_us,
      // cuMemCreate, cuMemMap and cuMemSetAccess: one and two halves.
      cuMemCreate: 2 * sim.vmm_us,
      cuMemAllocAsync: sim.alloc_async_us,
    };
    expectRecovered(
      rows.map((row) => {
        const tolerance = ALLOCATION.tolerance * (row.api === 'cuMemCreate' ? 2 : 1);
        return [
          `${row.api} ${row.bytes}`,
          ofUs(row),
          { truth: truths[String(row.api)] as number, tolerance, resolution: ALLOCATION.resolution },
        ];
      }),
    );
    const headline = rows.find(({ api, bytes }) => api === 'cuMemAlloc' && bytes === 2 * MIB);
    expect(result).toMatchObject({ status: 'ok', value: headline?.valueUs, ci95: headline?.ci95 });
  });
});

describe('OH-003 recovers free_us', () => {
  it.each(NAMES)('%s', async (name) => {
    const [result] = await measure([['measureMemoryFree', { iterations: 60 }]], { sim: SETTINGS[name] });
    const rows = rowsOf<SizeRow>(result as MetricResult, 'sizes');
    const rowNames = rows.map(({ bytes, order }) => `${bytes} ${order}`).sort();
    const others = SIZES.filter((bytes) => bytes !== 2 * MIB).map((bytes) => `${bytes} fifo`);
    expect(rowNames).toEqual([...others, ...['fifo', 'lifo', 'random'].map((order) => `${2 * MIB} ${order}`)].sort());
    expectRecovered(
      rows.map((row) => [`${row.bytes} ${row.order}`, ofUs(row), { truth: SETTINGS[name].free_us, ...ALLOCATION }]),
    );
    const headline = rows.find(({ order, bytes }) => order === 'fifo' && bytes === 2 * MIB);
    expect(result).toMatchObject({ status: 'ok', value: headline?.valueUs, ci95: headline?.ci95 });
  });

  it('in every order at every size at tier thorough', async () => {
    const [result] = await measure([['measureMemoryFree', { iterations: 20, tier: 'thorough' }]], {
      sim: { free_us: 7, alloc_us: 3 },
    });
    const rows = rowsOf<SizeRow>(result as MetricResult, 'sizes');
    expect(rows).toHaveLength(15);
    expectRecovered(rows.map((row) => [`${row.bytes} ${row.order}`, ofUs(row), { truth: 7, ...ALLOCATION }]));
  });
});

describe('OH-005 finds nothing where nothing is hooked', () => {
  it.each([SETTINGS.cheap, SETTINGS.dear])('launch_ns $launch_ns', async (sim) => {
    const [result] = await measure([['measureApiInterception']], { sim });
    const functions = rowsOf<FunctionRow>(result as MetricResult, 'functions');
    expect(functions.length).toBeGreaterThanOrEqual(25);
    expect(result?.details.missing).toEqual([]);
    expect(functions.filter(({ intercepted }) => intercepted)).toEqual([]);
    const nothing = { truth: 0, tolerance: 5, resolution: 5 };
    expectRecovered(
      functions.map(({ name, overheadNs, ci95 }) => [name, { value: overheadNs, ci95 }, nothing] as const),
    );
    expectRecovered([['headline', result as Estimate, { ...nothing, tolerance: 1 }]]);
    expect(result?.status).toBe('ok');
    // The two absolute times of a row are that call's own.
    const launch = functions.find(({ name }) => name === 'cuLaunchKernel') as FunctionRow;
    for (const value of [launch.hookedNs, launch.bareNs]) expect(Math.abs(value - sim.launch_ns)).toBeLessThan(100);
  });
});

/**
 * OH-006 on the simulated GPU: the recorded durations of calls of several processes, with and without an injected lock.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../lib/results/document.js';
import { median } from '../../lib/stats/median.js';
import { emptyFolder } from '../native/child.js';
import { customUnder, environmentUnder, measured } from '../native/measured.js';
import { LOOP_READINGS, type Recorded, type RecordedCall, recordedByProcess } from '../native/record.js';
import { onOneProcessor } from '../processors.js';
import { undisturbed, undisturbedRecord } from '../undisturbed.js';

const HOLD_US = 2_000;
const LOCK = `cuMemAlloc_v2=+0ns,lock=${HOLD_US / 1_000}ms`;
/** Warm-up operations, which run before the common window in every process. */
const WARMUP = 10;
/**
 * The operation, and one call before each window of it and in each of the launches' windows: recording all others would
 * be too much.
 */
const RECORDED = 'recorded=cuMemAlloc_v2+cuMemFree_v2+cuMemGetAllocationGranularity+cuMemsetD8_v2';

interface Row {
  operation: string;
  topology: string;
  processes: number;
  p50Us: number;
  p99Us: number | null;
  operations: number;
}

const rowsOf = ({ details }: MetricResult, operation: string, topology = 'shared') =>
  (details.rows as Row[]).filter((row) => row.operation === operation && row.topology === topology);

function growth(result: MetricResult, operation: string, topology?: string): number {
  const rows = rowsOf(result, operation, topology);
  return (rows.at(-1)?.p50Us ?? Number.NaN) - (rows[0]?.p50Us ?? Number.NaN);
}

interface Operation {
  entered: number;
  left: number;
}

/**
 * The windows of allocations and frees of a process: consecutive pairs, without warm-up. Two blocks that are live at
 * once are no operation: some are verified in between.
 */
function windowsOf(recorded: Recorded): Operation[][] {
  const windows: Operation[][] = [];
  let live: RecordedCall[] = [];
  let verifying = false;
  let open = false;
  for (const call of recorded.calls) {
    const allocated = call.name === 'cuMemFree_v2' ? live.pop() : undefined;
    if (call.name === 'cuMemAlloc_v2') {
      live.push(call);
      verifying ||= live.length > 1;
    } else if (!allocated) {
      [live, verifying, open] = [[], false, false];
    } else if (verifying) {
      verifying = live.length > 0;
    } else {
      if (!open) windows.push([]);
      open = true;
      windows.at(-1)?.push({ entered: allocated.entered, left: call.left });
    }
  }
  return windows.filter((window) => window.length > 2 * WARMUP).map((window) => window.slice(WARMUP));
}

const overlap = (a: readonly Operation[], b: readonly Operation[]): boolean =>
  (a[0]?.entered ?? 0) < (b.at(-1)?.left ?? 0) && (b[0]?.entered ?? 0) < (a.at(-1)?.left ?? 0);

interface Truth {
  us: number;
  toleranceUs: number;
}

/**
 * The expected value of a row: the median over processes of the medians in their common time. At the ends of that time
 * one operation more or less may count, which moves a median to its neighbour; of many operations a row keeps evenly
 * spaced ones, which moves it within the interval of the median.
 */
function truthOf(windows: readonly (readonly Operation[])[], readingNs: number): Truth {
  const from = Math.max(...windows.map((window) => window[0]?.entered ?? 0));
  const to = Math.min(...windows.map((window) => window.at(-1)?.left ?? 0));
  const medians = windows.map((window) =>
    median(window.filter(({ entered, left }) => entered >= from && left <= to).map((one) => one.left - one.entered)),
  );
  const widths = medians.map(({ ci95 }) => (ci95 ? ci95[1] - ci95[0] : Number.NaN));
  // An operation has two calls.
  return {
    us: median(medians.map(({ value }) => value)).value / 1e3,
    toleranceUs: (2 * LOOP_READINGS * readingNs + Math.max(...widths)) / 1e3,
  };
}

/** Expected values of the rows of allocations and frees, for one process and for several. */
function truths(folder: string): { alone: Truth; together: Truth } {
  const processes = recordedByProcess(folder).map((process) => process.joined());
  const windows = processes.flatMap((process) => windowsOf(process).map((window) => ({ process, window })));
  const readingNs = Math.max(...processes.map((process) => process.readingNs));
  const beside = (own: (typeof windows)[number]) =>
    windows.filter((other) => other.process !== own.process && overlap(other.window, own.window));
  const alone = windows.filter((own) => beside(own).length === 0);
  const together = windows.filter((own) => beside(own).length > 0);
  return {
    alone: truthOf(
      alone.slice(0, 1).map(({ window }) => window),
      readingNs,
    ),
    together: truthOf(
      together.map(({ window }) => window),
      readingNs,
    ),
  };
}

function expectNear(valueUs: number | undefined | null, { us, toleranceUs }: Truth): void {
  expect(Math.abs((valueUs ?? Number.NaN) - us)).toBeLessThan(toleranceUs);
}

describe.skipIf(onOneProcessor('OH-006, whose tenants need one each'))('OH-006', () => {
  it('recovers the time that processes wait for a shared lock', async () => {
    const { result, record } = await undisturbedRecord((folder) => {
      const system = environmentUnder(`${LOCK},state=${join(emptyFolder(), 'state')}`, RECORDED, folder);
      return measured('OH-006', system, { warmup: WARMUP });
    });
    expect(result).toMatchObject({ status: 'ok', unit: 'us', ci95: null, stats: null });
    const [alone, ...others] = rowsOf(result, 'allocFree');
    const recorded = truths(record);
    expectNear(alone?.p50Us, recorded.alone);
    expectNear(others.at(-1)?.p50Us, recorded.together);
    // The record shows the lock: first come, first served, each process waits for all others.
    expect(recorded.alone.us).toBeGreaterThan(HOLD_US);
    expect(recorded.together.us - recorded.alone.us).toBeGreaterThan(0.5 * HOLD_US);
    expect(result.value).toBeCloseTo(growth(result, 'allocFree'), 6);
    expect(result.processes).toBe(others.at(-1)?.processes);
    const enough = result.checks.find(({ name }) => name.startsWith('at least'));
    expect(enough).toMatchObject({ passed: false, detail: expect.stringContaining('allocFree of 1 shared') });
  });

  it('matches the cost that the processes cause each other without a lock', async () => {
    const { result, record } = await undisturbedRecord((folder) =>
      measured('OH-006', environmentUnder(null, RECORDED, folder), { warmup: WARMUP }),
    );
    expect(result.status).toBe('ok');
    const recorded = truths(record);
    const rows = rowsOf(result, 'allocFree');
    expectNear(rows[0]?.p50Us, recorded.alone);
    expectNear(rows.at(-1)?.p50Us, recorded.together);
    for (const { p50Us, p99Us } of rows) expect(p99Us ?? Number.NaN).toBeGreaterThanOrEqual(p50Us);
  });

  it('is less for tenants with separate locks', async () => {
    const system = await customUnder(`${LOCK},state={runDir}/state-{tenant}`, '{runDir}/state-{tenant}');
    const result = await undisturbed(
      () => measured('OH-006', system, { tier: 'standard' }),
      (of) => [of],
    );
    const shared = growth(result, 'allocFree');
    expect(shared).toBeGreaterThan(0.5 * HOLD_US);
    // The growth is at most half of a shared lock's cost: both include sleeps that end late on a busy machine.
    expect(growth(result, 'allocFree', 'separate')).toBeLessThan(0.5 * shared);
    expect(rowsOf(result, 'allocFree', 'separate').map(({ processes }) => processes)).toEqual(
      rowsOf(result, 'allocFree').map(({ processes }) => processes),
    );
  });

  it('has no number where a few allocations pay for all, and one where the driver serves each', async () => {
    const taken = await measured('OH-006', environmentUnder('ahead=40', 'alloc_us=40'), { warmup: WARMUP });
    expect(taken).toMatchObject({ status: 'invalid', value: null });
    expect(taken.reason).toMatch(/most calls are answered without the driver.*: cuMemAlloc of a granule: median/);
    const delayed = await undisturbed(
      () => measured('OH-006', environmentUnder('cuMemAlloc_v2=+90us', 'alloc_us=40'), { warmup: WARMUP }),
      (of) => [of],
    );
    expect(delayed.status).toBe('ok');
    for (const name of ['every call is served by the driver', 'allocations take memory of the GPU'])
      expect(delayed.checks).toContainEqual(expect.objectContaining({ name, passed: true }));
  });
});

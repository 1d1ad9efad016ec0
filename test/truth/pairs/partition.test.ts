/** Green contexts of the simulated card: the estimators of SCHED-003 and IS-003 find a partition of known size. */
import { describe, expect, it } from 'vitest';
import type { PartitionRow } from '../../../lib/metrics/core/partition.js';
import type { Check, MetricResult } from '../../../lib/results/document.js';
import { emptyFolder, measureRecorded, type Settings } from '../../native/child.js';
import { median } from '../../../lib/stats/median.js';
import { environmentUnder, measured } from '../../native/measured.js';
import { recordedByProcess, type RecordedCall } from '../../native/record.js';
import { ownRegion } from '../../temporary.js';
import { undisturbed } from '../../undisturbed.js';

const partitionIn = ({ details }: MetricResult) => details.partition as PartitionRow;
const checkOf = ({ checks }: MetricResult): Check | undefined =>
  checks.find(({ name }) => name === 'a partition of known size is found');

const lasted = ({ begins, ends }: RecordedCall): number => ends - begins;

const STREAMS = 8;
/** Runs of the whole card and of each other number of streams; the partition has five. */
const RUNS = 4;
const PARTITION_RUNS = 5;
const KERNELS_OF_STREAM = 4;

async function concurrency(settings: Settings) {
  const { results, recorded } = await measureRecorded([['measureStreamConcurrency', { iterations: RUNS }]], {
    sim: { init_ms: 1, context_ms: 1, recorded: 'cuLaunchKernel', ...settings },
  });
  return { result: results[0] as MetricResult, calls: recorded.calls };
}

/** Kernels of one run: one alone, then those of all streams. */
const kernelsOfRun = (streams: number): number => 1 + KERNELS_OF_STREAM * streams;

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** From the first start to the last end, ns. */
const spanOf = (run: readonly RecordedCall[]): number =>
  Math.max(...run.map(({ ends }) => ends)) - Math.min(...run.map(({ begins }) => begins));

/** From the first start to that of the last stream, as a share of the run. */
function launchingShare(run: readonly RecordedCall[]): number {
  const begins = run.map((kernel) => kernel.begins).sort((a, b) => a - b);
  return ((begins[STREAMS - 1] as number) - (begins[0] as number)) / spanOf(run);
}

/** The kernels of each run of eight streams, in the partition and on the whole card. */
function runsOf(calls: readonly RecordedCall[]) {
  const launches = calls.filter(({ name, hook }) => name === 'cuLaunchKernel' && !hook);
  const others = sum([2, 4, 16, 32].map((streams) => RUNS * kernelsOfRun(streams)));
  const length = kernelsOfRun(STREAMS);
  const runsBefore = (end: number, count: number) =>
    Array.from({ length: count }, (_, i) =>
      launches.slice(end - (count - i) * length + 1, end - (count - i - 1) * length),
    );
  const wholeEnds = launches.length - others;
  return { inPartition: runsBefore(wholeEnds - RUNS * length, PARTITION_RUNS), whole: runsBefore(wholeEnds, RUNS) };
}

function spansOf(calls: readonly RecordedCall[]) {
  const { inPartition, whole } = runsOf(calls);
  return { inPartition: inPartition.map(spanOf), whole: whole.map(spanOf) };
}

/** A process that is kept from launching lengthens a run; then the typical run is not the card's own. */
function delayed(calls: readonly RecordedCall[]) {
  const late = Object.values(spansOf(calls)).some((spans) => median(spans).value > 1.01 * Math.min(...spans));
  return late ? [{ id: 'SCHED-003', reason: 'the typical run took longer than the shortest by 1 %' }] : [];
}

async function loads(sim: string) {
  const record = emptyFolder();
  const settings = `region=${ownRegion('part')},recorded=cuLaunchKernel,${sim}`;
  const result = await measured('IS-003', environmentUnder(null, settings, record));
  const kernels = recordedByProcess(record).flatMap(({ calls }) => calls.filter(({ kernel }) => kernel === 'gvb_load'));
  return { result, kernels };
}

/** Multiprocessors: of the card, that are asked for, and that the rule of its generation makes of them. */
const CARDS = [
  [132, 90, 64, 64],
  [144, 90, 72, 72],
  [108, 80, 52, 52],
  [100, 90, 48, 48],
] as const;

describe('SCHED-003', () => {
  it.each(CARDS)('finds the partition of a card with %i multiprocessors of generation %i', async (sms, cc, _, size) => {
    const { result, calls } = await undisturbed(
      () => concurrency({ sms, cc }),
      () => [],
      (measurement) => delayed(measurement.calls),
    );
    expect(result.status).toBe('ok');
    const row = partitionIn(result);
    const used = 8 * Math.floor(sms / 8);
    const expectedPercent = (100 * size) / used;
    expect(row).toMatchObject({ multiprocessors: size, of: sms, expectedPercent });
    // The card's own record: of the shortest runs, in which the streams start one launch after the other, and of the
    // typical ones, which the metric must find.
    const { inPartition, whole } = spansOf(calls);
    const shortest = (100 * Math.min(...whole)) / Math.min(...inPartition);
    // The whole card's run is longer by the time in which the host launches, of which the partition's hides a part.
    const launching = Math.min(...runsOf(calls).whole.map(launchingShare));
    const deviation = shortest / expectedPercent - 1;
    expect(deviation).toBeGreaterThan(-0.005);
    expect(deviation).toBeLessThan(launching + 0.005);
    const recorded = (100 * median(whole).value) / median(inPartition).value;
    expect(Math.abs(row.measuredPercent / recorded - 1)).toBeLessThan(0.001);
    expect(checkOf(result)).toMatchObject({ passed: true });
  });

  it('is measured as if there were no partition beside it', async () => {
    const { result, calls } = await concurrency({});
    // Kernels at once on average, of eight, as the card recorded them.
    const recorded = runsOf(calls).whole.map((run) => (100 * sum(run.map(lasted))) / spanOf(run) / 8);
    expect(Math.abs((result.value as number) - median(recorded).value)).toBeLessThan(0.1);
    expect(result.details.streams).toHaveLength(5);
  });
});

describe('IS-003', () => {
  it.each([
    [132, 90, 72],
    [108, 80, 54],
  ])('finds the partition of a card with %i multiprocessors of generation %i', async (sms, cc, size) => {
    const { result, kernels } = await loads(`sms=${sms},cc=${cc}`);
    expect(result).toMatchObject({ status: 'unsupported', reason: 'no compute limit is set', value: null });
    const row = partitionIn(result);
    expect(row).toMatchObject({ multiprocessors: size, of: sms, multiprocessorsUsed: size });
    expect(row.expectedPercent).toBeCloseTo((100 * size) / sms, 9);
    // The card's own record of the last kernels of each load.
    const longest = Math.max(...kernels.map(lasted));
    const whole = kernels.filter((kernel) => lasted(kernel) > 0.9 * (longest * size) / sms && lasted(kernel) < 0.9 * longest); // prettier-ignore
    const recorded = (100 * lasted(whole.at(-1) as RecordedCall)) / longest;
    expect(recorded).toBeCloseTo((100 * size) / sms, 0);
    expect(Math.abs(row.errorPercent)).toBeLessThan(2);
    expect(checkOf(result)).toMatchObject({ passed: true });
  });
});

describe('a driver that says a green context is larger than it is', () => {
  it('is flagged by SCHED-003, whose own number stays', async () => {
    const { result, calls } = await undisturbed(
      () => concurrency({ partition_sms: 16 }),
      () => [],
      (measurement) => delayed(measurement.calls),
    );
    expect(result.status).toBe('ok');
    expect(partitionIn(result)).toMatchObject({ multiprocessors: 64, of: 132 });
    const { inPartition, whole } = spansOf(calls);
    const recorded = (100 * median(whole).value) / median(inPartition).value;
    expect(recorded).toBeLessThan(25);
    expect(Math.abs(partitionIn(result).measuredPercent / recorded - 1)).toBeLessThan(0.001);
    expect(checkOf(result)).toMatchObject({
      passed: false,
      detail: expect.stringMatching(/^a green context of 64 of/),
    });
  });

  it('is flagged by IS-003, which sees where kernels ran', async () => {
    const { result } = await loads('partition_sms=40');
    expect(partitionIn(result)).toMatchObject({ multiprocessors: 72, multiprocessorsUsed: 40 });
    expect(checkOf(result)).toMatchObject({ passed: false, detail: expect.stringMatching(/kernels ran on 40$/) });
  });

  it('is flagged where it says that it is smaller', async () => {
    const { result } = await concurrency({ partition_sms: 128 });
    expect(partitionIn(result).measuredPercent).toBeGreaterThan(95);
    expect(checkOf(result)).toMatchObject({ passed: false });
  });
});

describe('a driver without green contexts', () => {
  it.each([
    [12_030, /cuGreenCtxStreamCreate/],
    [12_040, /cuGreenCtxStreamCreate/],
  ])('has no row, with the reason: CUDA %i', async (driver_version, reason) => {
    const { result } = await concurrency({ driver_version });
    expect(result.status).toBe('ok');
    expect(result.details.partition).toEqual({ unsupported: expect.stringMatching(reason) });
    expect(checkOf(result)).toMatchObject({ passed: 'not checked', detail: expect.stringMatching(reason) });
    const { result: shares } = await loads(`driver_version=${driver_version}`);
    expect(shares.details.partition).toEqual({ unsupported: expect.stringMatching(reason) });
  });

  it('has no row where it refuses to make one', async () => {
    const { result } = await concurrency({ fail: 'cuGreenCtxCreate:2@1' });
    expect(result.status).toBe('ok');
    expect(result.details.partition).toEqual({ failed: expect.stringMatching(/^cuGreenCtxCreate returned/) });
  });
});

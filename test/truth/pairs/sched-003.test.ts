/** SCHED-003: how many kernels ran at the same time, compared with the card's record of each. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { median } from '../../../lib/stats/median.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder, measureRecorded, type Settings } from '../../native/child.js';
import type { Recorded, RecordedCall } from '../../native/record.js';

const RUNS = 4;
const KERNELS = 4;
const STREAMS = [8, 2, 4, 16, 32];

async function measured(settings: Settings = {}, environment: NodeJS.ProcessEnv = {}) {
  const { results, recorded } = await measureRecorded([['measureStreamConcurrency', { iterations: RUNS }]], {
    sim: { init_ms: 1, context_ms: 1, ...settings },
    environment,
  });
  return { result: results[0] as MetricResult, recorded };
}

/** The measured runs of each number of streams; a kernel alone precedes each run. */
function runsOf(recorded: Recorded): Map<number, RecordedCall[][]> {
  const all = recorded.named('cuLaunchKernel').filter(({ kernel }) => kernel === 'gvb_stage');
  const runs = new Map<number, RecordedCall[][]>();
  let end = all.length;
  for (const streams of [...STREAMS].reverse()) {
    const each = 1 + streams * KERNELS;
    const own = all.slice(end - RUNS * each, end);
    runs.set(
      streams,
      Array.from({ length: RUNS }, (_, i) => own.slice(i * each + 1, (i + 1) * each)),
    );
    end -= RUNS * each;
  }
  return runs;
}

function atOnce(kernels: readonly RecordedCall[]): number {
  const span = Math.max(...kernels.map(({ ends }) => ends)) - Math.min(...kernels.map(({ begins }) => begins));
  return kernels.reduce((sum, { begins, ends }) => sum + ends - begins, 0) / span;
}

interface Row {
  streams: number;
  percent: number;
  atOnce: number;
  mostAtOnce: number;
  kernelAloneUs: number;
  kernelUs: number;
  blocksOfKernel: number;
}
const rowsOf = ({ details }: MetricResult) => details.streams as Row[];

function expectRecovered(result: MetricResult, recorded: Recorded): void {
  expect(result.status).toBe('ok');
  const runs = runsOf(recorded);
  for (const { streams, atOnce: found } of rowsOf(result)) {
    const truth = median((runs.get(streams) as RecordedCall[][]).map(atOnce)).value;
    // Times are of the device's clock, in steps of 32 ns at both ends of a kernel of 500 us.
    expect(Math.abs(found / truth - 1), `${streams} streams`).toBeLessThan(2e-4);
  }
}

it('recovers how many kernels of independent streams run at once', async () => {
  const { result, recorded } = await measured();
  expectRecovered(result, recorded);
  expect(rowsOf(result).map(({ streams, blocksOfKernel }) => [streams, blocksOfKernel])).toEqual([
    [2, 66],
    [4, 33],
    [8, 16],
    [16, 8],
    [32, 4],
  ]);
  for (const { streams, mostAtOnce } of rowsOf(result)) expect(mostAtOnce).toBeLessThanOrEqual(streams);
});

it('has kernels for the multiprocessors of an instance', async () => {
  const { result, recorded } = await measured({ mig: '3+3' });
  expectRecovered(result, recorded);
  expect(rowsOf(result).map(({ streams, blocksOfKernel }) => [streams, blocksOfKernel])).toEqual([
    [2, 30],
    [4, 15],
    [8, 7],
    [16, 3],
    [32, 1],
  ]);
});

it('finds a layer that has all streams in one', async () => {
  const library = join(emptyFolder(), 'lazy-layer.so');
  const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', library, source, '-ldl']);
  const lazy = (what: string) => measured({}, { LD_PRELOAD: library, GVB_TEST_LAZY: what });
  const { result, recorded } = await lazy('streams=one');
  expectRecovered(result, recorded);
  expect(result.value).toBeLessThanOrEqual(100 / 8);
  expect(rowsOf(result).every(({ mostAtOnce }) => mostAtOnce === 1)).toBe(true);
  // The same layer, which skips kernels.
  const skipping = await lazy('cuLaunchKernel=60');
  expect(skipping.result).toMatchObject({ status: 'invalid', value: null });
  expect(skipping.result.reason).toContain('was launched successfully but did not run');
});

it('gives no row of more streams than the card has multiprocessors', async () => {
  const { result } = await measured({ sms: 16 });
  expect(result.status).toBe('ok');
  expect(rowsOf(result).at(-1)).toMatchObject({
    streams: 32,
    unsupported: expect.stringContaining('has 16') as string,
  });
});

it('has no verdict beside a native arm whose streams do not overlap', () => {
  const { besideNative } = metricNamed('SCHED-003');
  const native = (value: number) => besideNative?.({} as MetricResult, { value } as MetricResult);
  expect(native(97)).toBeNull();
  expect(native(89.9)).toMatch(/^the native arm reached 89\.9 %, less than 90 %/);
});

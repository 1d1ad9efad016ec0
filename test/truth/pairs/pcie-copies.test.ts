/**
 * PCIE-001 and PCIE-002: rates compared with the copies that the simulated driver recorded, and cards that do not copy.
 */
import { expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { type Bracket, expectBetween, expectRateBetween } from '../../native/brackets.js';
import { measure, measureRecorded, type MeasureFunction, type Settings } from '../../native/child.js';
import type { Recorded, RecordedCall } from '../../native/record.js';

const MIB = 2 ** 20;
const COUNT = 6;
const WARMUP = 2;
/** Another one is compared with the device's clock. */
const MADE = WARMUP + COUNT + 1;
/** A quarter of the memory that such a card leaves to a process is between 16 and 32 MiB. */
const card = { memory_mib: 96, context_mib: 1, init_ms: 1, context_ms: 1, start_ns: 2000 };
const options = { iterations: COUNT, seed: 5 };
const BOTH: readonly MeasureFunction[] = ['measureHostToDevice', 'measureDeviceToHost'];

interface Row {
  way?: string;
  bytes: number;
  copies: number;
  gbs: number;
  ci95: [number, number];
  unsupported?: string;
  failed?: string;
}
const sizesOf = ({ details }: MetricResult) => details.sizes as Row[];
const otherOf = ({ details }: MetricResult, way: string) => (details.others as Row[]).find((row) => row.way === way);

async function recordedRates(sim: Settings) {
  const { results, recorded } = await measureRecorded(
    BOTH.map((name) => [name, options]),
    { sim: { ...card, ...sim } },
  );
  return { results: results as [MetricResult, MetricResult], recorded };
}

const unrecorded = (sim: Settings): Promise<MetricResult[]> =>
  measure(
    BOTH.map((name) => [name, options]),
    { sim: { ...card, ...sim } },
  );

/** Every sequence of matching calls between two events that counts: not the first ones, and not those that are checked. */
function samplesOf(recorded: Recorded, length: number, fits: (call: RecordedCall) => boolean): Bracket[] {
  const { calls } = recorded;
  const found: Bracket[] = [];
  for (let i = 1; i + length < calls.length; i++) {
    const run = calls.slice(i, i + length);
    const [before, behind] = [calls[i - 1] as RecordedCall, calls[i + length] as RecordedCall];
    if (before.name !== 'cuEventRecord' || behind.name !== 'cuEventRecord' || !run.every(fits)) continue;
    const [begins, ends] = [Math.min(...run.map((call) => call.begins)), Math.max(...run.map((call) => call.ends))];
    // The card stamps an event when it reaches it: not before the event is recorded, and after the work before it.
    const last = Math.max(ends, behind.left + card.start_ns);
    found.push({ leastNs: ends - begins, mostNs: last - before.entered });
  }
  return found.slice(WARMUP, WARMUP + COUNT);
}

const copied = (name: string, bytes: number) => (call: RecordedCall) => call.name === name && call.bytes === bytes;

function expectRate({ bytes, copies, gbs, ci95 }: Row, samples: readonly Bracket[]): void {
  expect(samples).toHaveLength(COUNT);
  expectRateBetween({ value: gbs, ci95 }, bytes * copies, samples);
}

it.each([
  ['a full link', { pcie_gbs: 55, pcie_out_gbs: 42 }],
  ['a slow one', { pcie_gbs: 12.5, pcie_out_gbs: 14, pcie_gen: 4, pcie_width: 8 }],
])('recovers the rates of %s in both directions', async (_, sim) => {
  const { results, recorded } = await recordedRates(sim);
  const ways = [
    ['cuMemcpyHtoDAsync_v2', 'cuMemcpyBatchAsync to the device', sim.pcie_gbs],
    ['cuMemcpyDtoHAsync_v2', 'cuMemcpyBatchAsync to the host', sim.pcie_out_gbs],
  ] as const;
  for (const [i, [name, batch, capacity]] of ways.entries()) {
    const result = results[i] as MetricResult;
    expect(result).toMatchObject({ status: 'ok', details: { bytes: 16 * MIB, link: { underLoad: true } } });
    expect(sizesOf(result).map(({ bytes, copies }) => [bytes / 1024, copies])).toEqual([
      [4, 64],
      [64, 64],
      [1024, 16],
      [16 * 1024, 1],
    ]);
    for (const row of sizesOf(result)) expectRate(row, samplesOf(recorded, row.copies, copied(name, row.bytes)));
    const whole = samplesOf(recorded, 1, copied(name, 16 * MIB));
    expect(result.value).toBe(sizesOf(result).at(-1)?.gbs);
    // The configured rate, in addition to the recorded one.
    expectBetween((16 * MIB) / (whole[0] as Bracket).leastNs, [0.999 * capacity, 1.001 * capacity]);
    expect(result.value as number).toBeLessThanOrEqual(1.001 * capacity);
    const batches = recorded.named('cuMemcpyBatchAsync').slice(...(i === 0 ? [0, MADE] : [MADE]));
    expectRate(
      otherOf(result, batch) as Row,
      samplesOf(recorded, 1, (call) => batches.includes(call)),
    );
  }
  const [, out] = results;
  // Whole samples: in the order of the calls, the copies of each direction are between two events.
  const both = otherOf(out, 'both directions at once') as Row;
  expect(both.gbs).toBeLessThanOrEqual(2.002 * Math.min(sim.pcie_gbs, sim.pcie_out_gbs));
  const stores = otherOf(out, 'stores of a kernel') as Row;
  const kernels = recorded.named('cuLaunchKernel').filter(({ kernel, ends, begins }) => {
    return kernel === 'gvb_mix' && ends - begins > 0.5 * ((16 * MIB) / sim.pcie_out_gbs);
  });
  expectRate(
    stores,
    samplesOf(recorded, 1, (call) => kernels.includes(call)),
  );
});

it('reads the link while copies use it, and says that it lost lanes', async () => {
  const [result] = await unrecorded({ pcie_gbs: 12, pcie_gen: 4, pcie_idle_gen: 1, pcie_width: 8 });
  expect(result).toMatchObject({ status: 'ok', details: { link: { generation: 4, width: 8, maxWidth: 16 } } });
  expect((result as MetricResult).details.percentOfLink).toBeCloseTo((100 * (result?.value ?? 0)) / (8 * 1.969), 6);
  expect(result?.checks.find(({ name }) => name === 'the link runs at full width')).toMatchObject({ passed: false });
});

it('has no row for what the driver and the device lack', async () => {
  const [toDevice, toHost] = (await unrecorded({ copy_engines: 1, driver_version: 12000 })) as [
    MetricResult,
    MetricResult,
  ];
  expect([toDevice.status, toHost.status]).toEqual(['ok', 'ok']);
  expect(otherOf(toDevice, 'cuMemcpyBatchAsync to the device')?.unsupported).toMatch(/cuMemcpyBatchAsync/);
  expect(otherOf(toHost, 'both directions at once')?.unsupported).toMatch(/one copy engine/);
});

it.each([
  ['skips copies', { copy_skip: 1 }, /^A copy to the (device|host) reported success, but \d+ of \d+ words/],
  ['mixes up the parts of a copy', { copy_swap: 1 }, /^A copy to the (device|host) reported success, but/],
  [
    'copies later than it says',
    { copy_lazy: 1 },
    /^no faster than the link: .* GB\/s, but PCIe generation 5, 16 lanes/,
  ],
])('is invalid on a card that %s', async (_, sim, reason) => {
  for (const result of await unrecorded(sim)) {
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(reason);
  }
});

it('is unsupported where nothing bounds the rate, and keeps it in the details', async () => {
  for (const result of await unrecorded({ pcie_gen: 0 })) {
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result.reason).toMatch(/^NVML reports no PCIe link/);
    expect(result.details.gbs as number).toBeGreaterThan(0);
  }
});

it('is unsupported where pinned memory is refused', async () => {
  for (const result of await unrecorded({ fail: 'cuMemHostAlloc:2@1' })) {
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result.reason).toMatch(/^pinned memory is refused: cuMemHostAlloc returned CUDA_ERROR_OUT_OF_MEMORY/);
  }
});

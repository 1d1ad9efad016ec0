/** PCIE-004: rates by source and the cost of pinning, compared with the calls that the simulated driver recorded. */
import { expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { median } from '../../../lib/stats/median.js';
import { bracketOf, expectBetween, expectRateBetween } from '../../native/brackets.js';
import { measure, measureRecorded, type Settings } from '../../native/child.js';
import type { Recorded, RecordedCall } from '../../native/record.js';

const MIB = 2 ** 20;
const BLOCKS = 3;
const COUNT = 4;
const BYTES = 16 * MIB;
/** A card that is slow enough that the host waits for as long as a copy takes. */
const card = { memory_mib: 96, context_mib: 1, init_ms: 1, context_ms: 1, real_time: 1 };

interface Row {
  source: string;
  gbs: number;
  ci95: [number, number];
  pinUsPerMib: number | null;
  failed?: string;
}
const sourcesOf = ({ details }: MetricResult) => details.sources as Row[];
const rowOf = (result: MetricResult, source: string) => sourcesOf(result).find((row) => row.source === source) as Row;

async function unrecorded(sim: Settings): Promise<MetricResult> {
  const [result] = await measure([['measurePinnedMemory', { seed: 5 }]], { sim: { ...card, ...sim } });
  return result as MetricResult;
}

const before = (recorded: Recorded, names: readonly string[], call: RecordedCall): RecordedCall | undefined =>
  recorded.calls.findLast(({ name, entered }) => names.includes(name) && entered < call.entered);

/** The copies grouped by source: each block allocates its own memory and frees it. */
function copiesBySource(recorded: Recorded): Record<string, RecordedCall[]> {
  const copies = recorded.named('cuMemcpyHtoD_v2').filter(({ bytes }) => bytes === BYTES);
  // The first copy of a block is warm-up.
  const counted = copies.filter((_, i) => i % (1 + COUNT) !== 0);
  const sourceOf = (call: RecordedCall) => {
    const pins = ['cuMemHostAlloc', 'cuMemHostRegister_v2', 'cuMemFreeHost', 'cuMemHostUnregister'];
    const latest = before(recorded, pins, call)?.name;
    return latest === 'cuMemHostAlloc' || latest === 'cuMemHostRegister_v2' ? latest.replace('_v2', '') : 'mmap';
  };
  const of = (source: string) => counted.filter((call) => sourceOf(call) === source);
  return Object.fromEntries(['cuMemHostAlloc', 'cuMemHostRegister', 'mmap'].map((source) => [source, of(source)]));
}

it('recovers the rate from each kind of memory, their ratio, and what pinning takes', async () => {
  const sim = { pcie_gbs: 24, pageable_gbs: 9, host_alloc_us: 700, host_register_us: 2500 };
  const { results, recorded } = await measureRecorded([['measurePinnedMemory', { seed: 5 }]], {
    sim: { ...card, ...sim },
  });
  const [result] = results as [MetricResult];
  expect(result.reason).toBeUndefined();
  expect(result).toMatchObject({ status: 'ok', direction: 'none', details: { bytes: BYTES } });
  const copies = copiesBySource(recorded);
  for (const { source, gbs, ci95 } of sourcesOf(result)) {
    const own = copies[source] ?? [];
    expect(own).toHaveLength(BLOCKS * COUNT);
    const brackets = own.map((call) => {
      const over = recorded.calls.find(({ name, entered }) => name === 'cuCtxSynchronize' && entered >= call.left);
      return bracketOf(recorded, call, over as RecordedCall);
    });
    expectRateBetween({ value: gbs, ci95 }, BYTES, brackets);
    // The configured rate, in the card's own time.
    const rates = own.map(({ begins, ends }) => BYTES / (ends - begins));
    const capacity = source === 'mmap' ? sim.pageable_gbs : sim.pcie_gbs;
    for (const rate of rates) expectBetween(rate, [0.999 * capacity, 1.001 * capacity]);
    expect(gbs).toBeLessThanOrEqual(1.001 * capacity);
  }
  expect(result.value).toBeCloseTo(rowOf(result, 'cuMemHostAlloc').gbs / rowOf(result, 'mmap').gbs, 12);
  for (const [source, name] of [
    ['cuMemHostAlloc', 'cuMemHostAlloc'],
    ['cuMemHostRegister', 'cuMemHostRegister_v2'],
  ] as const) {
    const row = rowOf(result, source);
    const mib = (BYTES + 64 * 1024) / MIB;
    const pins = recorded.named(name).slice(0, BLOCKS);
    const spans = pins.map((call) => bracketOf(recorded, call, call));
    expectBetween(1e3 * mib * (row.pinUsPerMib as number), [
      median(spans.map(({ leastNs }) => leastNs)).value,
      median(spans.map(({ mostNs }) => mostNs)).value,
    ]);
  }
  expect(rowOf(result, 'mmap').pinUsPerMib).toBeNull();
});

it('has no row for memory that cannot be registered', async () => {
  const result = await unrecorded({ fail: 'cuMemHostRegister_v2:2@1' });
  expect(result.status).toBe('ok');
  expect(rowOf(result, 'cuMemHostRegister').failed).toMatch(/^cuMemHostRegister_v2 returned CUDA_ERROR_OUT_OF_MEMORY/);
});

it.each([
  ['unsupported where pinned memory is refused', { fail: 'cuMemHostAlloc:2@1' }, 'unsupported', /^pinned memory is re/],
  ['unsupported where nothing bounds the rate', { pcie_gen: 0 }, 'unsupported', /^NVML reports no PCIe link/],
  ['invalid on a card that skips copies', { copy_skip: 1 }, 'invalid', /^A copy to the device reported success, but/],
  [
    'invalid where a copy is faster than the link',
    { pcie_gen: 1, pcie_width: 1, pcie_max_width: 1, pcie_gbs: 12 },
    'invalid',
    /^no faster than the link/,
  ],
])('is %s', async (_, sim, status, reason) => {
  const result = await unrecorded(sim);
  expect(result).toMatchObject({ status, value: null });
  expect(result.reason).toMatch(reason);
});

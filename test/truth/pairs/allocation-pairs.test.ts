/**
 * The pairs of OH-002, OH-003 and OH-007 recover what a layer adds to an allocation and to a free, from the very same
 * calls.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { callEffects } from '../../../lib/metrics/core/call-effects.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { emptyFolder, type MeasureFunction, measure, measureRecorded, simulatedFolder } from '../../native/child.js';
import {
  type PairRow,
  recordedDifferences,
  recordedSamples,
  tookOf,
  truthOfPairs,
} from '../../native/recorded-pairs.js';
import { expectRecovered } from '../../native/recovered.js';
import { LOOP_READINGS } from '../../native/record.js';
import { undisturbed } from '../../undisturbed.js';
import { runDocument } from '../../unit/run/fixtures.js';

const sim = { init_ms: 1, context_ms: 1, alloc_us: 7, free_us: 4 };
const MIB = 2 ** 20;

const METRICS = {
  'OH-002': ['measureMemoryAllocation', 2 * MIB, 32, ['cuMemAlloc_v2']],
  'OH-003': ['measureMemoryFree', 2 * MIB, 32, ['cuMemFree_v2']],
  'OH-007': ['measureMemoryTracking', 64 * 1024, 1_024, ['cuMemAlloc_v2', 'cuMemFree_v2']],
} as const satisfies Record<string, readonly [MeasureFunction, number, number, readonly PairRow['name'][]]>;
type Id = keyof typeof METRICS;
const IDS = Object.keys(METRICS) as Id[];

async function paired(id: Id, interpose: string, options: object = {}) {
  const environment = { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: interpose };
  const { results, recorded } = await undisturbed(
    () => measureRecorded([[METRICS[id][0], { iterations: 20, ...options }]], { sim, environment }),
    (measured) => measured.results,
  );
  const [result] = results as [MetricResult];
  expect(result.status).toBe('ok');
  return { result, recorded, rows: result.details.pairs as PairRow[] };
}

/** Every sample is A B B A, and an allocation through the layer is freed through it. */
function expectTurns(samples: ReturnType<typeof recordedSamples>, { pairs }: PairRow): void {
  expect(samples).toHaveLength(pairs);
  const orders = samples.map((turns) => turns.map(({ hooked }) => (hooked ? 'hooked' : 'bare')).join(' '));
  expect([...new Set(orders)].sort()).toEqual(['bare hooked hooked bare', 'hooked bare bare hooked']);
}

async function expectPairs(id: Id, interpose: string, options: object = {}) {
  const { result, recorded, rows } = await paired(id, interpose, options);
  const [, bytes, live, names] = METRICS[id];
  expect(rows.map((row) => [row.name, row.bytes, row.live])).toEqual(names.map((name) => [name, bytes, live]));
  const samples = recordedSamples(recorded, rows[0] as PairRow);
  expectTurns(samples, rows[0] as PairRow);
  const truths = rows.map(({ name }) => truthOfPairs(recordedDifferences(samples, tookOf(name)), recorded.readingNs));
  expectRecovered(
    rows.map((row, i) => [
      row.call,
      { value: row.overheadNs, ci95: row.ci95 },
      truths[i] as ReturnType<typeof truthOfPairs>,
    ]),
  );
  return { result, recorded, rows, samples, truths };
}

const BOTH = 'cuMemAlloc_v2=+20us,cuMemFree_v2=+9us';

describe('a layer that delays both calls', () => {
  it.each(IDS)('%s', async (id) => {
    const { result, rows, recorded, samples, truths } = await expectPairs(id, BOTH);
    // The record contains at least the configured delay.
    for (const [i, { name, intercepted, owner }] of rows.entries()) {
      expect(truths[i]?.truth).toBeGreaterThan(name === 'cuMemAlloc_v2' ? 20_000 : 9_000);
      expect({ intercepted, owner }).toEqual({ intercepted: true, owner: interposerLibrary() });
    }
    if (id !== 'OH-007') return;
    const both = result.details.pairsTogether as PairRow;
    const took = recordedDifferences(samples, (turn) => tookOf('cuMemAlloc_v2')(turn) + tookOf('cuMemFree_v2')(turn));
    const truth = truthOfPairs(took, recorded.readingNs);
    expectRecovered([
      ['both', { value: both.overheadNs, ci95: both.ci95 }, { ...truth, tolerance: 2 * truth.tolerance }],
    ]);
  });

  it.each(['dlsym', 'linked'] as const)('on the %s path', async (path) => {
    await expectPairs('OH-002', BOTH, { path });
  });
});

it("a cost per live block appears in the free, only for the layer's own blocks", async () => {
  const { truths } = await expectPairs('OH-007', 'perlive=5ns');
  const [allocation, free] = truths.map(({ truth }) => truth) as [number, number];
  expect(free).toBeGreaterThan(1_024 * 5);
  expect(free).toBeLessThan(2 * 1_024 * 5);
  expect(allocation).toBeLessThan(1_024 * 5);
});

describe('a layer that delays one call costs nothing in the other', () => {
  it.each([
    ['OH-002', 'cuMemFree_v2'],
    ['OH-003', 'cuMemAlloc_v2'],
  ] as const)('%s under a delay of %s', async (id, hooked) => {
    const { rows } = await expectPairs(id, `${hooked}=+20us`);
    expect(rows.map(({ intercepted }) => intercepted)).toEqual([false]);
    const [row] = rows as [PairRow];
    expect(Math.abs(row.overheadNs)).toBeLessThan(2_000);
  });
});

it('a layer that delays neither costs nothing', async () => {
  const { rows, recorded } = await paired('OH-007', 'cuMemGetInfo_v2=+20us');
  expect(rows.map(({ intercepted }) => intercepted)).toEqual([false, false]);
  const nothing = {
    truth: 0,
    tolerance: LOOP_READINGS * recorded.readingNs,
    resolution: LOOP_READINGS * recorded.readingNs,
  };
  expectRecovered(rows.map(({ call, overheadNs, ci95 }) => [call, { value: overheadNs, ci95 }, nothing]));
});

it('a layer that answers from its own cache has a negative cost under its name', async () => {
  const layer = join(emptyFolder(), 'libcaching.so');
  const source = fileURLToPath(new URL('../../native/fixtures/caching.cpp', import.meta.url));
  execFileSync('c++', ['-O2', '-std=c++17', '-shared', '-fPIC', '-o', layer, source, '-ldl']);
  const environment = { LD_PRELOAD: layer, GVB_TEST_LIBCUDA: join(simulatedFolder, 'libcuda.so.1') };
  // A process each: what the layer keeps belongs to a context that ends with the measurement.
  const request = ['measureMemoryAllocation', { iterations: 20, path: 'linked' }] as const;
  const results: MetricResult[] = [];
  for (let round = 0; round < 3; round++) results.push(...(await measure([request], { sim, environment })));
  expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  const effects = callEffects([results.map((result) => runDocument({ metrics: [result] }))]);
  expect(effects).toMatchObject([
    { call: 'cuMemAlloc_v2 of 2 MiB, 32 live', owner: layer, intercepted: true, rounds: 3, verdict: 'faster' },
  ]);
  // It saves the driver's own time, minus what the layer takes itself.
  for (const { overheadNs, bareNs } of effects) expect(overheadNs).toBeLessThan(-0.5 * bareNs);
});

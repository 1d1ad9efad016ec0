/** IS-014 under layers that change what programs compute, and on a card whose sums have no order of their own. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { type SameResultsDetails, sameResultsBy } from '../../../lib/metrics/isolation/is-014-same-results.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import type { System } from '../../../lib/systems/system.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder } from '../../native/child.js';
import { environment, environmentUnder } from '../../native/measured.js';

const PLAN = { repetitions: 2, size: 64 };
const SUMS = 'sums in a fixed order';

async function results(system: System) {
  const definition = { ...metricNamed('IS-014'), measure: sameResultsBy(PLAN) };
  const result = await measureMetric(definition, { simulate: true, seed: 1 }, { system });
  const { kernels } = result.details as SameResultsDetails;
  const rows = kernels.map((row) => {
    if (!('differences' in row)) throw new Error(JSON.stringify(row));
    return row;
  });
  return { result, rows, different: rows.filter(({ differences }) => differences.length > 0) };
}

describe('IS-014', () => {
  it('is 1 without a layer, alone and beside a neighbour', async () => {
    const { result, rows } = await results(environmentUnder(null));
    expect(result).toMatchObject({ status: 'ok', value: 1, ci95: null, processes: 4 });
    expect(rows).toHaveLength(6);
    for (const row of rows) expect(row).toMatchObject({ repetitions: 2, excluded: false, differences: [] });
  });

  it('is 1 under a layer that only delays', async () => {
    const { result } = await results(environmentUnder('cuLaunchKernel=+20us'));
    expect(result).toMatchObject({ status: 'ok', value: 1 });
  });

  it('excludes by name a kernel that differs natively, and compares the others', async () => {
    const { result, rows } = await results(environmentUnder(null, 'unordered_sums=1'));
    expect(result).toMatchObject({ status: 'ok', value: 1 });
    expect(rows.filter(({ excluded }) => excluded)).toMatchObject([{ kernel: SUMS, differences: [] }]);
    expect(result.checks).toContainEqual(
      expect.objectContaining({ passed: true, detail: '5 of 6 give the same bits in native runs' }),
    );
  });
});

describe('a layer that changes results', () => {
  const layer = join(emptyFolder(), 'lazy-layer.so');
  beforeAll(() => {
    const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
    execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
  });
  const under = (lazy: string) => environmentSystem({ ...environment(null), LD_PRELOAD: layer, GVB_TEST_LAZY: lazy });

  it('has other last bits where it halves the grid of a kernel', async () => {
    const { result, different } = await results(under('sliced=gvb_ordered_sum'));
    expect(result).toMatchObject({ status: 'ok', value: 0 });
    expect(different.map(({ kernel }) => kernel)).toEqual([SUMS]);
    const [{ differences }] = different as [(typeof different)[0]];
    expect(differences.map(({ arm }) => arm)).toEqual(['alone', 'beside a neighbour']);
    for (const { results: count, bytes, largest } of differences) {
      expect(count).toBe(2);
      expect(bytes).toBeGreaterThan(0);
      // Other roundings of sums whose size is about the root of 16384.
      expect(largest).toBeGreaterThan(0);
      expect(largest).toBeLessThan(1e-2);
    }
  });

  it('is found where it skips a kernel, whose output is then no number', async () => {
    const { result, different } = await results(under('kernel=gvb_ordered_sum'));
    expect(result).toMatchObject({ status: 'ok', value: 0 });
    expect(different).toMatchObject([{ kernel: SUMS, differences: [{ results: 2, firstByte: 0, largest: null }, {}] }]);
  });

  it('is found where it returns the first copy of a size again', async () => {
    const { result, different } = await results(under('copies=replay'));
    expect(result).toMatchObject({ status: 'ok', value: 0 });
    // The first result of each size is the right one.
    for (const { differences } of different)
      expect(differences.find(({ arm }) => arm === 'alone')?.results ?? 1).toBeLessThanOrEqual(2);
    expect(different.map(({ kernel }) => kernel)).toContain('matrix product (OH-010)');
  });

  it('is found by a single bit of a single result', async () => {
    const { result, different } = await results(under('flipped=9'));
    expect(result).toMatchObject({ status: 'ok', value: 0 });
    const differences = different.flatMap((row) => row.differences);
    for (const { results: count, bytes } of differences) expect([count, bytes]).toEqual([1, 1]);
  });
});

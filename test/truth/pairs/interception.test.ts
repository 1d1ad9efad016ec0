/** OH-005 under a preloaded library with one hook, which times each of its calls itself. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FunctionProvenance } from '../../../lib/results/document.js';
import { emptyFolder, measureRecorded, scenario, simulatedFolder } from '../../native/child.js';
import { CALL_READINGS } from '../../native/record.js';
import { expectRecovered } from '../../native/recovered.js';
import { undisturbed } from '../../undisturbed.js';

interface FunctionRow {
  name: string;
  owner: string;
  intercepted: boolean;
  overheadNs: number;
  bareNs: number;
  ci95: [number, number];
}

const folder = emptyFolder();
const layer = join(folder, 'libinterposer.so');
const HOOKED = 'cuMemGetInfo_v2';
const sim = { launch_ns: 1000 };

beforeAll(() => {
  const source = fileURLToPath(new URL('../../native/fixtures/interposer.cpp', import.meta.url));
  execFileSync('c++', ['-O2', '-std=c++17', '-shared', '-fPIC', '-o', layer, source, '-ldl']);
});

type Path = 'runtime' | 'dlsym' | 'linked';

const environmentOf = (waitNs: number, path: Path, report: string): NodeJS.ProcessEnv => ({
  LD_PRELOAD: layer,
  GVB_TEST_WAIT_NS: String(waitNs),
  GVB_TEST_LIBCUDA: join(simulatedFolder, 'libcuda.so.1'),
  GVB_TEST_ACHIEVED: report,
  GVB_TEST_WRAP: path,
});

async function underLayer(waitNs: number, path: Path) {
  const report = join(folder, `${path}-${waitNs}.json`);
  const environment = environmentOf(waitNs, path, report);
  // The record of another call, for the cost of a clock reading.
  const settings = { sim: { ...sim, recorded: 'cuInit' }, environment };
  const { results, recorded } = await undisturbed(
    () => measureRecorded([['measureApiInterception', { path }]], settings),
    (measured) => measured.results,
  );
  const [result] = results;
  if (!result) throw new Error('unreachable');
  const functions = result.details.functions as FunctionRow[];
  const { achievedNs, calls } = JSON.parse(readFileSync(report, 'utf8')) as { achievedNs: number; calls: number };
  return { result, functions, achievedNs, calls, readingNs: recorded.readingNs };
}

describe('OH-005 recovers what a layer adds', () => {
  it.each([
    ['runtime', 0],
    ['runtime', 300],
    ['runtime', 2_000],
    ['dlsym', 700],
    ['linked', 700],
  ] as const)('on the %s path, +%i ns', async (path, waitNs) => {
    const { result, functions, achievedNs, calls, readingNs } = await underLayer(waitNs, path);
    const hooked = functions.find(({ name }) => name === HOOKED);
    expect(hooked).toMatchObject({ intercepted: true, owner: layer });
    expect(calls).toBeGreaterThan(100);
    expect(achievedNs).toBeGreaterThanOrEqual(waitNs);
    const within = (truth: number, readings: number) => {
      const tolerance = readings * readingNs;
      return { truth, tolerance, resolution: tolerance + readingNs };
    };
    // The layer's time includes the driver's call, which the pair's other call makes too, but not the way into the layer.
    const addedNs = achievedNs - (hooked?.bareNs ?? Number.NaN);
    const estimate = { value: hooked?.overheadNs ?? null, ci95: hooked?.ci95 ?? null };
    expectRecovered([[HOOKED, estimate, within(addedNs, CALL_READINGS)]]);

    // Nothing else has a cost: an owner of `dlsym` intercepts look-ups, but no driver call.
    const others = functions.filter(({ name }) => name !== HOOKED && name !== 'dlsym');
    expect(others.length).toBeGreaterThanOrEqual(25);
    expect(others.filter(({ intercepted, owner }) => intercepted || owner === layer)).toEqual([]);
    expectRecovered(
      others.map(({ name, overheadNs, ci95 }) => [name, { value: overheadNs, ci95 }, within(0, 1)] as const),
    );
    const lookUp = functions.find(({ name }) => name === 'dlsym');
    expect(lookUp).toMatchObject({ intercepted: true, owner: layer });

    // The headline is for a program that does not make the hooked call.
    expect(result).toMatchObject({ status: 'ok', details: { interceptedCount: 1, headlineProfile: 'eager' } });
    expectRecovered([['headline', result, within(0, 1)]]);
  });
});

it.each([
  ['runtime', { cuMemGetInfo_v2: ['runtime', 'linked'], cuGetProcAddress_v2: ['dlsym'] }],
  ['dlsym', { cuMemGetInfo_v2: ['dlsym', 'linked'] }],
  ['linked', { cuMemGetInfo_v2: ['linked'] }],
] as const)('getProvenance names the layer on the %s path, and no other function or path', async (path, wanted) => {
  const environment = environmentOf(0, path, join(folder, 'unused.json'));
  const rows = await scenario<FunctionProvenance[]>('provenance', { environment });
  const interposed = rows.filter((row) => row.interposed.length > 0);
  expect(Object.fromEntries(interposed.map((row) => [row.name, row.interposed]))).toEqual(wanted);
  for (const row of interposed) for (const where of row.interposed) expect(row.paths[where]).toBe(layer);
});

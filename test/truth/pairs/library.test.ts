/** The library from a caller's view: loaded libraries, a launch, a launch with an old driver. */
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { metricResultSchema } from '../../../lib/results/document.js';
import { median } from '../../../lib/stats/median.js';
import { answerOf, measure, type Request, type Settings } from '../../native/child.js';
import { expectSamples } from '../../native/samples.js';
import { onOneProcessor } from '../../processors.js';
import { undisturbed } from '../../undisturbed.js';

const quick = { init_ms: 6, context_ms: 2, launch_ns: 800 };

describe('importing', () => {
  it('loads no addon and no driver', async () => {
    expect(await answerOf<string[]>('importing.mjs', [])).toEqual([]);
  });
});

/** Measures again until a launch has a start, which needs a clock mapping. */
const mapped = (requests: readonly Request[], sim: Settings) =>
  undisturbed(
    () => measure(requests, { sim }),
    (results) => results,
  );

async function launches(iterations: number, sim: Settings) {
  const [result] = await mapped([['measureKernelLaunch', { iterations }]], sim);
  return result;
}

const oneProcessor = onOneProcessor('the rows of OH-001, whose host and simulated device have to run at once');

describe.skipIf(oneProcessor)('OH-001', () => {
  it('fits the schema, with samples and without', async () => {
    const [result, plain] = await mapped(
      [
        ['measureKernelLaunch', { iterations: 6, samples: true, seed: 5 }],
        ['measureKernelLaunch', { iterations: 40 }],
      ],
      quick,
    );
    for (const any of [result, plain]) v.parse(metricResultSchema, any);
    expect(plain).not.toHaveProperty('samples');
    // A visit is one launch here: if a busy host could not map the device's clock, it has no start.
    if (!result?.samples) return;
    const [call] = result.details.calls as { mapping: { blocksMapped: number } }[];
    expectSamples(result, call?.mapping.blocksMapped as number);
  });

  it('has one block per clock mapping', async () => {
    const result = await launches(20, quick);
    const [call] = result?.details.calls as { count: number; mapping: { blocks: number; blocksMapped: number } }[];
    expect(call).toMatchObject({ count: 20, mapping: { blocks: 20 } });
    expect(result?.blocks).toHaveLength(call?.mapping.blocksMapped as number);
    expect(median(result?.blocks as number[]).value).toBeCloseTo(result?.value as number, 9);
  });

  it('keeps the kernel launch if a graph cannot be built', async () => {
    const fail = 'cuGraphInstantiateWithFlags:801@1';
    const result = await launches(80, { ...quick, fail });
    expect(result?.status).toBe('ok');
    const graph = (result?.details.calls as { call: string; failed?: string }[]).find(
      ({ call }) => call === 'cuGraphLaunch',
    );
    expect(graph?.failed).toMatch(/^cuGraphInstantiateWithFlags returned CUDA_ERROR_NOT_SUPPORTED \(801\)/);
  });
});

describe.skipIf(oneProcessor)('a driver too old for a function', () => {
  const withEx =
    'cuLaunchKernelEx is not offered by this driver on the runtime path; it needs a newer driver: CUDA 11.6 (branch 510) or later.';
  const withoutGraph =
    'cuGraphInstantiateWithFlags is not offered by this driver on the runtime path; drivers have it since CUDA 11.4: reinstall the driver, or remove the library that stands in its place.';

  it.each([
    [{ driver_version: 11_060 }, 'measured', 'measured'],
    [{ driver_version: 11_040 }, withEx, 'measured'],
    [{ hide: 'cuGraphInstantiateWithFlags' }, 'measured', withoutGraph],
  ])('%j leaves rows of OH-001 out, with the reason, and measures the others', async (driver, ex, graph) => {
    const result = await launches(50, { ...quick, ...driver });
    const calls = result?.details.calls as { call: string; unsupported?: string; submitUs?: number }[];
    expect(calls.map(({ call, unsupported }) => [call, unsupported ?? 'measured'])).toEqual([
      ['cuLaunchKernel', 'measured'],
      ['cuLaunchKernelEx', ex],
      ['cuGraphLaunch', graph],
    ]);
    for (const { unsupported, submitUs } of calls)
      if (!unsupported) expect(submitUs).toBeGreaterThanOrEqual(quick.launch_ns / 1e3);
  });
});

/** Pairs of allocations and frees with known times: what is published, and when there are none. */
import { describe, expect, it } from 'vitest';
import { callEffects } from '../../../lib/metrics/core/call-effects.js';
import type { MeasureContext } from '../../../lib/metrics/core/metric.js';
import { allocationPairs, type PairedBlocks } from '../../../lib/metrics/overhead/allocation-pairs.js';
import type { AllocationPairRequest, AllocationPairs, PairBlock } from '../../../lib/native/addon-types.js';
import { BenchError } from '../../../lib/errors/bench-error.js';
import { CudaError } from '../../../lib/native/errors.js';
import { result, runDocument, sessionOf } from '../run/fixtures.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const LAYER = '/opt/layer/libvgpu.so';
const CUDA = '/usr/lib/libcuda.so.1';

function block(count: number, owner: string, hookedNs: number, bareNs: number): PairBlock {
  const samples = (ns: number) => new Float64Array(count).fill(ns);
  const owners = { owner, bareOwner: CUDA, intercepted: owner !== CUDA };
  return { ...owners, calls: 1, hookedNs: samples(hookedNs), bareNs: samples(bareNs), achievedNs: null };
}

/** A layer that slows an allocation by 900 ns and does not affect a free. */
const known = ({ count, visits }: AllocationPairRequest): AllocationPairs => ({
  allocation: block(count * visits, LAYER, 5_900, 5_000),
  free: block(count * visits, CUDA, 7_000, 7_000),
});

async function measured(answer: (request: AllocationPairRequest) => AllocationPairs, more: Partial<PairedBlocks> = {}) {
  const requests: AllocationPairRequest[] = [];
  const session = sessionOf({
    allocationPairs: (request: AllocationPairRequest) => {
      requests.push(request);
      return answer(request);
    },
  });
  const options = { tier: 'standard', seed: 7 };
  const context = { options, session: () => Promise.resolve(session) } as unknown as MeasureContext;
  const blocks = { bytes: 2 * MIB, live: 32, order: 'fifo', limit: 80 * GIB, ...more } as const;
  return { ...(await allocationPairs(context, blocks, ['allocation', 'free'])), requests };
}

const thrown = (error: Error) => () => {
  throw error;
};

describe('pairs of allocations', () => {
  it('have a row per call and one for both together', async () => {
    const { pairs, together, requests } = await measured(known);
    expect(requests).toMatchObject([{ bytes: 2 * MIB, live: 32, order: 'fifo', seed: 7, core: 7 }]);
    const common = { bytes: 2 * MIB, live: 32, pairs: 500 };
    expect(pairs).toEqual([
      {
        ...common,
        name: 'cuMemAlloc_v2',
        call: 'cuMemAlloc_v2 of 2 MiB, 32 live',
        owner: LAYER,
        intercepted: true,
        overheadNs: 900,
        ci95: [899.5, 900.5],
        trimmedNs: 900,
        hookedNs: 5_900,
        bareNs: 5_000,
      },
      {
        ...common,
        name: 'cuMemFree_v2',
        call: 'cuMemFree_v2 of 2 MiB, 32 live',
        owner: CUDA,
        intercepted: false,
        overheadNs: 0,
        ci95: [-0.5, 0.5],
        trimmedNs: 0,
        hookedNs: 7_000,
        bareNs: 7_000,
      },
    ]);
    expect(together).toMatchObject({ owner: LAYER, intercepted: true, overheadNs: 900, bareNs: 12_000, pairs: 500 });
  });

  it('use at most a quarter of the memory on both paths together', async () => {
    const { requests } = await measured(known, { limit: 160 * MIB });
    expect(requests[0]?.live).toBe(10);
    const none = await measured(known, { limit: 31 * MIB });
    expect(none.requests).toEqual([]);
    expect(none.pairs[0]).toMatchObject({ unsupported: 'fewer than two blocks of this size may be live at once' });
  });

  it.each([
    ['unsupported', new BenchError('FUNCTION_MISSING', 'cuMemAlloc_v2 was overwritten in the driver itself.')],
    ['failed', new CudaError(2, 'CUDA_ERROR_OUT_OF_MEMORY', 'cuMemAlloc_v2', 'allocating device memory')],
  ] as const)('are %s with the reason, and without a number', async (state, error) => {
    const { pairs, together } = await measured(thrown(error));
    expect(pairs.map((row) => Object.keys(row))).toEqual([1, 2].map(() => ['name', 'call', 'bytes', 'live', state]));
    expect(pairs[0]).toMatchObject({ [state]: error.message });
    expect(together).toBeNull();
  });

  it('end the metric if the context is gone', async () => {
    const gone = new CudaError(700, 'CUDA_ERROR_ILLEGAL_ADDRESS', 'cuMemFree_v2', 'freeing device memory');
    await expect(measured(thrown(gone))).rejects.toBe(gone);
  });
});

it("have effects per allocation size, with the function's owner", async () => {
  const { pairs } = await measured(known);
  const { pairs: small } = await measured(known, { bytes: 64 * 1024, live: 1_024 });
  const ofLayer = { runtime: LAYER, dlsym: LAYER, linked: CUDA, bare: CUDA };
  const rounds = [1, 2].map(() =>
    runDocument({
      metrics: [result('OH-002', { details: { pairs } }), result('OH-007', { details: { pairs: small } })],
      provenance: [{ name: 'cuMemAlloc_v2', paths: ofLayer, interposed: ['runtime', 'dlsym'] }],
    }),
  );
  const effects = callEffects([rounds]);
  expect(effects.map(({ metric, call, overheadNs }) => [metric, call, overheadNs])).toEqual([
    ['OH-002', 'cuMemAlloc_v2 of 2 MiB, 32 live', 900],
    ['OH-002', 'cuMemFree_v2 of 2 MiB, 32 live', 0],
    ['OH-007', 'cuMemAlloc_v2 of 64 KiB, 1024 live', 900],
    ['OH-007', 'cuMemFree_v2 of 64 KiB, 1024 live', 0],
  ]);
  expect(effects.map(({ interceptedOn }) => interceptedOn)).toEqual([
    ['runtime', 'dlsym'],
    null,
    ['runtime', 'dlsym'],
    null,
  ]);
});

import { describe, expect, it } from 'vitest';
import type { BlockSample } from '../../../lib/native/addon-types.js';
import { unlikeConditions } from '../../../lib/metrics/core/compared-at.js';
import { multiGpuScaling } from '../../../lib/metrics/llm/llm-010-multi-gpu-scaling.js';
import { visibleAmong } from '../../../lib/metrics/nccl/gpu-workers.js';
import { ncclEnvironment, transportsIn } from '../../../lib/metrics/nccl/ranks.js';
import { speedupCheck, sumCheck, wholeCheck } from '../../../lib/metrics/llm/sharded-block.js';

const sample = (parts: number[], sums: (number | null)[]): BlockSample => ({
  elements: 0,
  worstAllowed: 0,
  parts,
  sums: sums as number[],
});

describe('the sum of all ranks', () => {
  const parts = [
    [1, -2],
    [4, 8],
  ] as const;
  const ranks = (sums: (number | null)[][]) => sums.map((each, rank) => sample([...(parts[rank] ?? [])], each));

  it('must be on every rank', () =>
    expect(
      sumCheck(
        ranks([
          [5, 6],
          [5.01, 6],
        ]),
      ).passed,
    ).toBe(true));

  it.each([
    [
      'one rank has its own part',
      [
        [1, -2],
        [5, 6],
      ],
    ],
    [
      'one rank has nothing',
      [
        [5, 6],
        [null, 6],
      ],
    ],
    [
      'a sum is off by more than rounding',
      [
        [5, 6.2],
        [5, 6.2],
      ],
    ],
  ])('fails if %s', (_, sums) => expect(sumCheck(ranks(sums)).passed).toBe(false));

  it('fails if nothing was sampled', () => expect(sumCheck([sample([], [])]).passed).toBe(false));
});

describe('the sharded block', () => {
  const whole = sample([], [1, -1, 1000, -1000]);

  it("may deviate by rounding, relative to each result's deviation", () => {
    expect(wholeCheck(whole, sample([], [1.05, -1, 1050, -1000])).passed).toBe(true);
    expect(wholeCheck(whole, sample([], [1.2, -1, 1000, -1000])).passed).toBe(false);
  });
  it('must be numbers', () => expect(wholeCheck(whole, sample([], [1, -1, null, -1000])).passed).toBe(false));
});

describe('the speed-up', () => {
  const of = (ranks: number, speedup: number) =>
    speedupCheck({
      ranks,
      speedup,
      wholeMs: 1,
      stepMs: 1,
      ci95: null,
      efficiency: 1,
      allReducesMs: 0.5,
      communicationPercent: 50,
      busGbPerSecond: 1,
    });

  it.each([
    [2, 1],
    [2, 2.1],
    [4, 4.2],
  ])('of %i ranks may be %f', (ranks, speedup) => expect(of(ranks, speedup).passed).toBe(true));
  it.each([
    [2, 2.11],
    [4, 4.3],
    [2, 0.99],
    [2, NaN],
  ])('of %i ranks cannot be %f', (ranks, speedup) => expect(of(ranks, speedup).passed).toBe(false));
  it('has a reason if it is small', () => expect(of(2, 0.5).detail).toMatch(/take 50 % of a step/));
});

describe('the variables of NCCL', () => {
  it('keep sockets on the loopback interface', () =>
    expect(ncclEnvironment({ PATH: '/bin' })).toEqual({
      NCCL_SOCKET_IFNAME: 'lo',
      NCCL_DEBUG: 'INFO',
      NCCL_DEBUG_SUBSYS: 'INIT',
      NCCL_DEBUG_FILE: '/dev/stderr',
      NCCL_NVLS_ENABLE: '0',
    }));
  it("are the caller's, except for NVLink multicast", () =>
    expect(
      ncclEnvironment({ NCCL_SOCKET_IFNAME: 'eth0', NCCL_DEBUG: 'WARN', NCCL_P2P_DISABLE: '1', NCCL_NVLS_ENABLE: '1' }),
    ).toEqual({ NCCL_SOCKET_IFNAME: 'eth0', NCCL_DEBUG: 'WARN', NCCL_P2P_DISABLE: '1', NCCL_NVLS_ENABLE: '0' }));
});

describe('the visible GPUs', () => {
  const devices = ['GPU-aa', 'GPU-bb', 'GPU-bc'].map((uuid, index) => ({ index, uuid }));
  it.each([
    [undefined, [0, 1, 2]],
    ['2,0', [2, 0]],
    ['GPU-bc, 1', [2, 1]],
    ['1,7,0', [1]],
    ['1,1', [1]],
    ['', []],
    ['-1', []],
  ])('are those that CUDA_VISIBLE_DEVICES=%j names', (visible, indexes) =>
    expect(visibleAmong(devices, visible).map(({ index }) => index)).toEqual(indexes),
  );
});

it('compares blocks of one size on as many GPUs', () => {
  const of = (ranks: number, hidden: number) => ({ ranks, block: { hidden } });
  expect(unlikeConditions(multiGpuScaling, [of(2, 8192), of(2, 8192)])).toBeNull();
  expect(unlikeConditions(multiGpuScaling, [of(2, 8192), of(2, 4096)])).toBe(
    'ranks × columns is 2 × 8192 against 2 × 4096',
  );
  expect(unlikeConditions(multiGpuScaling, [of(2, 8192), of(4, 8192)])).not.toBeNull();
});

it("reads from NCCL's output how ranks are connected", () =>
  expect(
    transportsIn(
      'gpu:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\nNCCL INFO Channel 01 : 1[1] -> 0[0] via SHM/direct/direct\nvia nothing',
    ),
  ).toEqual(['P2P/CUMEM', 'SHM/direct/direct']));

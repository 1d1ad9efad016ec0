/** Proofs of a program's processes on a MIG instance, by what NVML listed and by their environment. */
import { describe, expect, it } from 'vitest';
import { simulatedDriverFolder } from '../../../lib/native/load.js';
import type { System } from '../../../lib/systems/system.js';
import { programEnvironment } from '../../../lib/workloads/program/program-environment.js';
import { proofOf } from '../../../lib/workloads/proof/proof.js';
import type { SeenProcess } from '../../../lib/workloads/proof/seen-process.js';

const driver = `${simulatedDriverFolder()}/libcuda.so.1`;
const instance = 'MIG-1';
const user = (pid: number, visible?: string | null): SeenProcess => ({
  ...{ pid, name: 'prog', files: [process.execPath, driver], isElsewhere: false },
  ...(visible !== undefined && { variables: { CUDA_VISIBLE_DEVICES: visible } }),
});
const nothing = new Set<string>();
/** Where NVML listed processes, by PID. */
const placesOf = (where: Readonly<Record<number, readonly string[]>>) => ({
  of: (pid: number) => new Set(where[pid] ?? nothing),
});
const proof = (seen: readonly SeenProcess[], places: ReturnType<typeof placesOf> | null, layer: string | null = null) =>
  proofOf(seen, {
    ...{ system: 'mig', layer, isBare: true, instance },
    placed: { instance, pids: new Set(seen.map(({ pid }) => pid)), places },
  });

describe('the processes of a program on a MIG instance', () => {
  it('are proven where NVML lists one there, and the others name it', async () => {
    // A process of somebody else on another card.
    const places = placesOf({ 7: [instance], 4711: ['GPU-2'] });
    expect(await proof([user(7, '0'), user(8, instance), { ...user(9), files: [process.execPath] }], places)).toEqual({
      state: 'proven',
      detail:
        'no layer is mapped in any of 3 processes; NVML listed 1 of 2 processes that used the driver on MIG-1, and none elsewhere, and the environment of the others names it',
    });
  });

  it.each([
    [
      'NVML lists one on a whole card',
      [user(7, instance)],
      { 7: ['GPU-2'] },
      /^NVML lists process 7 \(prog\) on GPU-2/,
    ],
    [
      'NVML lists one on another instance, too',
      [user(7, instance)],
      { 7: [instance, 'MIG-2'] },
      /^NVML lists process 7 \(prog\) on MIG-2, not on MIG-1$/,
    ],
    [
      'one that was not listed has lost the variable',
      [user(7, instance), user(8, null)],
      { 7: [instance] },
      /^process 8 \(prog\) used the driver without CUDA_VISIBLE_DEVICES, which is not MIG-1/,
    ],
    [
      'one that was not listed names another',
      [user(7, 'MIG-2')],
      {},
      /^process 7 \(prog\) used the driver with CUDA_VISIBLE_DEVICES=MIG-2, which is not MIG-1/,
    ],
  ])('are outside where %s', async (_, seen, where, detail) => {
    expect(await proof(seen, placesOf(where))).toEqual({
      state: 'outside',
      detail: expect.stringMatching(detail) as string,
    });
  });

  it.each([
    [
      'none used the GPU',
      [{ ...user(7), files: [process.execPath] }],
      placesOf({}),
      /^no process of the program was seen/,
    ],
    ['NVML was not asked', [user(7, instance)], null, /^NVML's lists of processes by instance were not read/],
    ['NVML listed none', [user(7, instance)], placesOf({}), /^NVML listed none of 1 processes that used the driver on/],
    [
      'one was not listed, and ended before its environment was read',
      [user(7, instance), user(8)],
      placesOf({ 7: [instance] }),
      /^NVML did not list process 8 \(prog\), which used the driver, and its CUDA_VISIBLE_DEVICES could not/,
    ],
  ])('are unproven where %s', async (_, seen, places, detail) => {
    expect(await proof(seen, places)).toEqual({ state: 'unproven', detail: expect.stringMatching(detail) as string });
  });

  it('are also as the layer inside wants them', async () => {
    expect(await proof([user(7, instance)], placesOf({ 7: [instance] }), '/opt/layer.so')).toMatchObject({
      state: 'outside',
      detail: expect.stringMatching(/^process 7 \(prog\) used the driver without \/opt\/layer\.so/) as string,
    });
  });
});

it('refuses a program that picks its GPU itself under a system that does', async () => {
  const system = { name: 'mig', settings: {}, picksGpu: true } as unknown as System;
  const workload = { env: { CUDA_VISIBLE_DEVICES: '0' }, passEnv: [] };
  expect(await programEnvironment(workload, { system, caller: {}, simulatedDriver: null, gpus: [] })).toEqual({
    refused: 'CUDA_VISIBLE_DEVICES is set by mig: remove it from the workload',
  });
});

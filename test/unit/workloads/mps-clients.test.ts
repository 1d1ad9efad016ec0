import { describe, expect, it } from 'vitest';
import { simulatedDriverFolder } from '../../../lib/native/load.js';
import type { ListedByNvml } from '../../../lib/workloads/program/listed-processes.js';
import { proofOf } from '../../../lib/workloads/proof/proof.js';
import type { SeenProcess } from '../../../lib/workloads/proof/seen-process.js';

const driver = `${simulatedDriverFolder()}/libcuda.so.1`;
const pipes = '/run/mps/p';
/** With the driver mapped, and the variable of the system. */
const user = (pid: number, change: Partial<SeenProcess> = {}): SeenProcess => ({
  ...{ pid, name: 'prog', files: [process.execPath, driver], isElsewhere: false },
  variables: { CUDA_MPS_PIPE_DIRECTORY: pipes },
  ...change,
});
const listed = (clients: readonly number[], others: readonly (readonly [number, number])[] = []): ListedByNvml => ({
  clients: new Set(clients),
  others: new Map(others),
});
const proof = (seen: readonly SeenProcess[], lists: ListedByNvml | null, pids = seen.map(({ pid }) => pid)) =>
  proofOf(seen, {
    system: 'mps',
    layer: null,
    mps: { pipes, daemon: 'the daemon of mps', pids: new Set(pids), listed: lists },
  });

describe('the processes of a program under MPS', () => {
  it('are proven where NVML lists one as a client, and all name the daemon', async () => {
    // The server of the daemon and a client of somebody else are no processes of the program.
    const lists = listed([7, 4711], [[4712, 50]]);
    const shell = user(6, { files: [process.execPath] });
    expect(await proof([shell, user(7), user(8)], lists)).toEqual({
      state: 'proven',
      detail:
        'NVML listed 1 of 2 processes that used the driver as clients of MPS, and the environment of each names the daemon of mps',
    });
  });

  it('are proven where the witness saw one, too', async () => {
    const { variables, ...witnessed } = user(7);
    expect(variables).toEqual({ CUDA_MPS_PIPE_DIRECTORY: pipes });
    expect(await proof([witnessed, user(7, { files: [process.execPath] })], listed([7]))).toMatchObject({
      state: 'proven',
    });
  });

  it.each([
    ['NVML lists one outside of MPS', [user(7), user(8)], listed([7], [[8, 2]]), /^NVML lists process 8 \(prog\) on/],
    [
      'one that was not looked at is listed outside of MPS',
      [user(7)],
      listed([7], [[8, 2]]),
      /^NVML lists process 8 \(not looked at\) on/,
    ],
    [
      'one has lost the variable',
      [user(7), user(8, { variables: { CUDA_MPS_PIPE_DIRECTORY: null } })],
      listed([7]),
      /^process 8 \(prog\) used the driver without CUDA_MPS_PIPE_DIRECTORY, which is not the daemon of mps/,
    ],
    [
      'a client names another daemon',
      [user(7, { variables: { CUDA_MPS_PIPE_DIRECTORY: '/tmp/nvidia-mps' } })],
      listed([7]),
      /^process 7 \(prog\) used the driver with CUDA_MPS_PIPE_DIRECTORY=\/tmp\/nvidia-mps/,
    ],
  ])('are outside where %s', async (_, seen, lists, detail) => {
    expect(await proof(seen, lists, [7, 8])).toEqual({
      state: 'outside',
      detail: expect.stringMatching(detail) as string,
    });
  });

  it.each([
    ['the GPU was not read', [user(7)], null, /^NVML's list of MPS clients was not read/],
    [
      'none used the GPU',
      [user(7, { files: [process.execPath] })],
      listed([]),
      /^no process of the program was seen to/,
    ],
    // As it was between NVML's two lists.
    ['one was listed once, outside of MPS', [user(7)], listed([], [[7, 1]]), /^NVML listed none of 1 processes that/],
    ['NVML has other PIDs', [user(7)], listed([], [[4711, 9]]), /^NVML listed none of 1 processes that/],
    [
      'one ended before its environment was read',
      [user(7), { pid: 8, name: 'prog', files: [driver], isElsewhere: false }],
      listed([7]),
      /^process 8 \(prog\) used the driver, but ended before its CUDA_MPS_PIPE_DIRECTORY could be read$/,
    ],
  ])('are unproven where %s', async (_, seen, lists, detail) => {
    expect(await proof(seen, lists)).toEqual({ state: 'unproven', detail: expect.stringMatching(detail) as string });
  });
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { baseEnvironment } from '../../../lib/systems/process/base-environment.js';
import { NativeSystem } from '../../../lib/systems/kinds/native/native-system.js';
import { runState, temporaryFolder } from './fixtures.js';

const folder = temporaryFolder();

/** What must never leak into the environment, by systems.md 0.2. */
const stripped = [
  ...['LD_PRELOAD', 'CUDA_REDIRECT', 'CUDA_DEVICE_MEMORY_LIMIT', 'CUDA_DEVICE_MEMORY_LIMIT_0'],
  ...['CUDA_DEVICE_SM_LIMIT', 'CUDA_DEVICE_SM_LIMIT_3', 'CUDA_DEVICE_MEMORY_SHARED_CACHE', 'CUDA_TASK_PRIORITY'],
  ...['GPU_CORE_UTILIZATION_POLICY', 'ACTIVE_OOM_KILLER', 'RECORD_KERNEL_INTERVAL', 'LIBCUDA_LOG_LEVEL'],
  ...['BUD_SM_LIMIT', 'BUD_MEMORY_LIMIT', 'CUDA_MPS_PIPE_DIRECTORY', 'CUDA_MPS_ACTIVE_THREAD_PERCENTAGE'],
  ...['CUDA_VISIBLE_DEVICES', 'NVIDIA_VISIBLE_DEVICES', 'CUDA_DEVICE_MAX_CONNECTIONS', 'CUDA_MODULE_LOADING'],
  ...['CUDA_LAUNCH_BLOCKING', 'CUDA_CACHE_PATH', 'CUDA_CACHE_DISABLE', 'GVB_CALLER_LD_PRELOAD', 'GVB_INTERPOSE'],
  ...['AWS_SECRET_ACCESS_KEY', 'NODE_OPTIONS', 'LD_AUDIT', 'BASH_ENV', 'LC_'],
];

describe('the base environment', () => {
  it('takes only variables of the allow-list', () => {
    const kept = {
      PATH: '/bin',
      HOME: '/h',
      USER: 'u',
      LANG: 'C',
      LC_ALL: 'C',
      TZ: 'UTC',
      TMPDIR: '/t',
      GVB_SIM: 'a=1',
    };
    const leaks = Object.fromEntries(stripped.map((name) => [name, 'x']));
    expect(baseEnvironment({ ...leaks, ...kept, LD_LIBRARY_PATH: '/usr/lib' })).toEqual({
      ...kept,
      LD_LIBRARY_PATH: '/usr/lib',
    });
  });

  it.each(['libvgpu.so', 'libvgpu.so.1', 'libfcsp.so', 'libcuda-control.so', 'libgvb_interpose.so'])(
    'drops a library folder that holds %s',
    (library) => {
      const holds = join(folder, library.replaceAll('.', '-'));
      mkdirSync(holds);
      writeFileSync(join(holds, library), '');
      expect(baseEnvironment({ LD_LIBRARY_PATH: `/usr/lib:${holds}::/nowhere` })).toEqual({
        LD_LIBRARY_PATH: '/usr/lib:/nowhere',
      });
    },
  );

  it('drops the folder of a measured library, and the variable if it becomes empty', () =>
    expect(baseEnvironment({ LD_LIBRARY_PATH: `${folder}/` }, [folder])).toEqual({}));

  it('keeps native away from any MPS daemon', async () => {
    const system = new NativeSystem({
      name: 'native',
      caller: { CUDA_MPS_PIPE_DIRECTORY: '/tmp/nvidia-mps', HOME: '/h' },
    });
    const run = runState(folder);
    await system.prepare(run);
    expect(system.environment()).toEqual({
      HOME: '/h',
      CUDA_MPS_PIPE_DIRECTORY: join(run.directory, 'native', 'no-mps'),
    });
    await system.teardown();
  });
});

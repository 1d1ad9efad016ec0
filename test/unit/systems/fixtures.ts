import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Probe, RunState } from '../../../lib/systems/system.js';
import type { Description } from '../../../lib/workers/description.js';
import { temporaryFolder as ownFolder } from '../../temporary.js';
import { device, inspection, provenance } from '../run/fixtures.js';

export const GIB = 2 ** 30;
export const CARD = 140 * GIB;
export const gpu = { ...device(0), memoryBytes: CARD };

/** A folder that is removed after the tests of the file. */
export const temporaryFolder = (): string => ownFolder('sys');

let runs = 0;
export const runState = (folder: string): RunState => {
  const directory = mkdtempSync(join(folder, 'r'));
  return { runId: `r${runs++}`, directory, gpu, otherGpus: [], target: { simulatedDriver: null } };
};

const machine: Record<string, number> = { x64: 62, arm64: 183 };

/** The first bytes of a shared object for this machine, with changes. */
export function elfHeader(change: { machine?: number; type?: number; bits?: number } = {}): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('\x7fELF', 'latin1');
  bytes[4] = change.bits === 32 ? 1 : 2;
  bytes[5] = 1;
  bytes.writeUInt16LE(change.type ?? 3, 16);
  bytes.writeUInt16LE(change.machine ?? machine[process.arch] ?? 62, 18);
  return bytes;
}

export function libraryFile(folder: string, name = 'libvgpu.so', bytes = elfHeader()): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

export const CUDA = '/usr/lib/libcuda.so.1';

/**
 * The description of a worker under `library`, which owns the four functions on `paths`; without a library, of a bare
 * one.
 */
export function description(library: string | null, change: DescriptionChange = {}): Description {
  const { exports = 202, paths = ['runtime', 'dlsym', 'linked'], memoryBytes = 10 * GIB, mpsClient = false } = change;
  const bare = { runtime: CUDA, dlsym: CUDA, linked: CUDA, bare: CUDA };
  const owners = { ...bare, ...Object.fromEntries(paths.map((path) => [path, library ?? CUDA])) };
  const functions = ['cuInit', 'cuMemAlloc_v2', 'cuMemGetInfo_v2', 'cuLaunchKernel'];
  return {
    pid: process.pid,
    environment: process.env,
    inspection: inspection({
      devices: [device(0, { memoryBytes: CARD, visibleMemoryBytes: library ? memoryBytes : CARD, mpsClient })],
    }),
    provenance: provenance([], {
      functions: functions.map((name) => ({ name, owners, interposed: library ? paths : [] })),
      nvml: [
        {
          ...{ name: 'nvmlInit_v2', owners: { dlsym: library && paths.length > 0 ? library : 'ml', bare: 'ml' } },
          interposed: library && paths.length > 0 ? ['dlsym'] : [],
        },
      ],
      objects: library ? [{ path: library, cudaExports: exports, exportsDlsym: true, exportsInit: true }] : [],
    }),
    preload: library ? [{ entry: library, source: 'LD_PRELOAD', mapped: library }] : [],
  };
}

export interface DescriptionChange {
  exports?: number;
  paths?: string[];
  memoryBytes?: number;
  mpsClient?: boolean | null;
}

export const probe = (change: Partial<Probe> = {}): Probe => ({
  visibleTotalBytes: null,
  visibleFreeBytes: null,
  pidFound: true,
  memoryLimitBytes: null,
  smPercent: null,
  allocations: null,
  partitionMultiprocessors: null,
  multiprocessorsUsed: null,
  ...change,
});

/** Features that a process may use when it is checkpointed, and what is documented of each (CKPT-009). */
import type {
  GpuState,
  Load,
  LoadCall,
  LoadRequest,
  MemoryFill,
  MemoryFillRequest,
  MemoryPath,
} from '../../native/addon-types.js';
import type { Worker } from '../../workers/worker.js';
import { BenchError } from '../../errors/bench-error.js';
import { MIB } from '../core/units.js';

export interface Feature {
  name: string;
  /** What NVIDIA documents of checkpoints with driver 580. */
  documented: 'works' | 'refused';
  /** Makes the target use it, before the lock. */
  use: (target: Worker) => Promise<unknown>;
  /** Goes on during the checkpoint; settles after the unlock. */
  meanwhile?: (target: Worker) => Promise<unknown>;
  /** Rejects, or answers false, if it no longer works after the unlock. */
  stillWorks: (target: Worker) => Promise<boolean>;
}

const LIMITS = { deadlineMs: 60_000 };
const BYTES = 32 * MIB;
/** Long enough for a lock, a checkpoint and a restore to fall into it. */
const LOAD_MS = 2_000;
const KERNEL_MS = 5;
const MULTIPROCESSORS = 8;

async function fill(worker: Worker, path: MemoryPath, bytes: number): Promise<MemoryFill> {
  const request: MemoryFillRequest = {
    path,
    mostBytes: bytes,
    firstBytes: 16 * MIB,
    smallestBytes: 1,
    mostBlocks: 64,
    spareBytes: 0,
  };
  return (await worker.request('fillMemory', request, LIMITS)) as MemoryFill;
}

/** Rejects if none was granted. */
async function take(target: Worker, path: MemoryPath): Promise<void> {
  const { blocks, refusals } = await fill(target, path, BYTES);
  const [refusal] = refusals;
  if (blocks === 0)
    throw new BenchError('FUNCTION_MISSING', `${refusal?.call ?? path} returned ${refusal?.name ?? 'no memory'}`);
}

/** Blocks that are held must still hold what was written to them, and another one can be taken. */
async function holds(target: Worker, path: MemoryPath): Promise<boolean> {
  const { noMemory, blocks } = await fill(target, path, BYTES);
  return noMemory === null && blocks > 0;
}

const memory = (name: string, path: MemoryPath, documented: Feature['documented'] = 'works'): Feature => ({
  name,
  documented,
  use: (target) => take(target, path),
  stillWorks: (target) => holds(target, path),
});

async function load(worker: Worker, own: Partial<LoadRequest>, durationMs: number): Promise<Load> {
  const request: LoadRequest = {
    call: 'cuLaunchKernel' satisfies LoadCall,
    nodes: 1,
    blocksPerMultiprocessor: 0,
    blocks: 0,
    threadsPerBlock: 256,
    rounds: 0,
    kernelNs: KERNEL_MS * 1e6,
    inFlight: 2,
    startAtNs: 0,
    durationNs: durationMs * 1e6,
    binNs: 100e6,
    gapNs: 1e6,
    mostListed: 64,
    partition: 0,
    ...own,
  };
  return (await worker.request('load', request, LIMITS)) as Load;
}

const running = (name: string, own: Partial<LoadRequest>): Feature => {
  const launches = async (target: Worker) => (await load(target, own, 4 * KERNEL_MS)).launches > 0;
  return {
    name,
    documented: 'works',
    use: launches,
    meanwhile: (target) => load(target, own, LOAD_MS),
    stillWorks: launches,
  };
};

/** Opens NVML in the target. */
async function readsNvml(target: Worker): Promise<boolean> {
  const health = (await target.request('health', {}, LIMITS)) as GpuState;
  return Object.values(health).some((value) => value !== null);
}

export const FEATURES: readonly Feature[] = [
  {
    name: 'graph, stream and event',
    documented: 'works',
    use: () => Promise.resolve(),
    stillWorks: () => Promise.resolve(true),
  },
  memory('managed memory', 'cuMemAllocManaged', 'refused'),
  {
    ...memory('memory exported for IPC', 'cuMemAlloc_v2', 'refused'),
    use: async (target) => {
      await take(target, 'cuMemAlloc_v2');
      await target.request('exportMemory', {}, LIMITS);
    },
  },
  memory('virtual memory', 'cuMemCreate'),
  memory('shareable handle', 'imported shareable handle', 'refused'),
  memory('memory pool', 'cuMemAllocFromPoolAsync'),
  memory('memory of a graph', 'graph memory node'),
  memory('array', 'cuArrayCreate_v2'),
  memory('pinned host memory', 'pinned host memory'),
  running('cooperative launch', { call: 'cuLaunchCooperativeKernel' }),
  running('green context', { partition: MULTIPROCESSORS }),
  { name: 'NVML', documented: 'works', use: readsNvml, stillWorks: readsNvml },
];

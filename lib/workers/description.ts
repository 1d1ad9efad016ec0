/** A worker's description of itself: which driver it sees, who owns each function, which preloads took effect. */
import type { Inspection, Provenance, Target } from '../native/addon-types.js';
import { BenchError } from '../errors/bench-error.js';
import { CudaError } from '../native/errors.js';
import type { Worker } from './worker.js';

export interface PreloadEntry {
  /** The entry as written, e.g. `libvgpu.so` or `/usr/local/vgpu/libvgpu.so`. */
  entry: string;
  source: 'LD_PRELOAD' | '/etc/ld.so.preload';
  /** The file mapped for it, or null if the dynamic loader did not load it. */
  mapped: string | null;
}

/** What a process in a container says of itself. */
export interface ContainerView {
  /** Name with which the container was started. */
  name: string;
  /** Preloaded files; null where one cannot be read. */
  files: { path: string; sha256: string | null }[];
}

export interface Description {
  pid: number;
  inspection: Inspection;
  provenance: Provenance;
  preload: PreloadEntry[];
  /** The worker's own environment; a prefix or the layer may have changed it. */
  environment: NodeJS.ProcessEnv;
  /** Absent outside of containers. */
  container?: ContainerView;
}

const DEADLINE_MS = 60_000;

export async function describe(worker: Worker, target: Target, signal?: AbortSignal): Promise<Description> {
  const { simulatedDriver } = worker.targetIn(target);
  const options = { deadlineMs: worker.patienceMs ?? DEADLINE_MS, ...(signal && { signal }) };
  return (await worker.request('describe', { simulatedDriver }, options)) as Description;
}

/** Why the worker cannot look for GPUs at all; null if it can. */
export function failureToLook({ inspection: { cuda } }: Description): Error | null {
  if (cuda === null) return null;
  if (cuda.missing !== null) return new BenchError('FUNCTION_MISSING', `No GPU can be found: ${cuda.missing}`);
  return new CudaError(cuda.code, cuda.name, cuda.call, 'looking for GPUs');
}

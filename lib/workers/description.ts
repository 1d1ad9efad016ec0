/** A worker's description of itself: which driver it sees, who owns each function, which preloads took effect. */
import type { Inspection, Provenance, Target } from '../native/addon-types.js';
import type { Worker } from './worker.js';

export interface PreloadEntry {
  /** As written, e.g. `libvgpu.so` or `/usr/local/vgpu/libvgpu.so`. */
  entry: string;
  source: 'LD_PRELOAD' | '/etc/ld.so.preload';
  /** The file mapped for it, or null if the dynamic loader did not load it. */
  mapped: string | null;
}

export interface Description {
  pid: number;
  inspection: Inspection;
  provenance: Provenance;
  preload: PreloadEntry[];
  /** As the worker itself reads it: a prefix or the layer may have changed it. */
  environment: NodeJS.ProcessEnv;
}

const DEADLINE_MS = 60_000;

export async function describe(worker: Worker, target: Target, signal?: AbortSignal): Promise<Description> {
  const { simulatedDriver } = worker.targetIn(target);
  const options = { deadlineMs: worker.patienceMs ?? DEADLINE_MS, ...(signal && { signal }) };
  return (await worker.request('describe', { simulatedDriver }, options)) as Description;
}

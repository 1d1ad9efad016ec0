/** Measurements that need a fresh process: starts it, asks once, and ends it. */
import type { Discovery, DiscoveryRequest, StartUp, StartUpRequest, Target } from '../native/addon-types.js';
import { loadAddon } from '../native/load.js';
import type { ProcessStart } from './launcher.js';
import { Worker, type WorkerTiming } from './worker.js';

export interface FreshProcess {
  start: ProcessStart;
  /** Timeout of the whole process. Default 120 s. */
  deadlineMs?: number;
  signal?: AbortSignal;
  /** Checks the worker after its answer; if it rejects, so does the measurement. */
  prove?: (worker: Worker) => Promise<unknown>;
}

/** A worker's answer to `startUp`. */
export interface WorkerStart extends StartUp {
  /** The peak of the worker process so far. */
  peakRssBytes: number;
  /** Libraries that the loader was told to preload, and did. */
  preloaded: string[];
}

/** The start seen from outside (spawn, addon) and from inside (cuInit … first kernel). */
export interface StartUpAnswer extends WorkerStart, WorkerTiming {
  /** Time from just before the spawn to the first kernel's result on the host, by one clock. */
  spawnToResultNs: number;
}

export async function startUpInFreshProcess(request: StartUpRequest, process: FreshProcess): Promise<StartUpAnswer> {
  const spawnedAtNs = loadAddon().now();
  const { answer, timing, worker } = await askFreshProcess<WorkerStart>('startUp', request, process);
  return { ...answer, ...timing, spawnToResultNs: worker.oursNs(answer.firstResultAtNs) - spawnedAtNs };
}

export async function discoverInFreshProcess(request: DiscoveryRequest, process: FreshProcess): Promise<Discovery> {
  return (await askFreshProcess<Discovery>('discovery', request, process)).answer;
}

async function askFreshProcess<T>(method: string, params: Target, process: FreshProcess) {
  const { deadlineMs = 120_000, prove, ...workerOptions } = process;
  const worker = await Worker.start({ ...workerOptions, startTimeoutMs: deadlineMs });
  try {
    const { signal } = process;
    const answer = (await worker.request(method, worker.targetIn(params), {
      deadlineMs,
      ...(signal && { signal }),
    })) as T;
    await prove?.(worker);
    return { answer, timing: worker.timing, worker };
  } finally {
    await worker.stop();
  }
}

/** The start of one fresh process, seen from outside (spawn, addon) and from inside (cuInit … first kernel). */
import type { StartUp, StartUpRequest } from '../native/addon-types.js';
import { Worker, type WorkerTiming } from './worker.js';

export interface StartUpOptions {
  environment: NodeJS.ProcessEnv;
  argvPrefix?: readonly string[];
  /** Most time for the whole process. Default 120 s. */
  deadlineMs?: number;
  signal?: AbortSignal;
}

export type StartUpAnswer = StartUp & WorkerTiming;

export async function startUpInFreshProcess(request: StartUpRequest, options: StartUpOptions): Promise<StartUpAnswer> {
  const { deadlineMs = 120_000, ...workerOptions } = options;
  const worker = await Worker.start({ ...workerOptions, startTimeoutMs: deadlineMs });
  try {
    const answer = (await worker.request('startUp', request, {
      deadlineMs,
      ...(options.signal && { signal: options.signal }),
    })) as StartUp;
    return { ...answer, ...worker.timing };
  } finally {
    await worker.stop();
  }
}

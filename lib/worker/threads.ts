import type { Handler } from '../workers/serve.js';
import type { ThreadReading } from '../workers/threads.js';

let beforeDriver: ThreadReading | null = null;

/** Called once, before the first driver call; `startExecutor` starts the addon's own thread. */
export async function rememberThreads(startExecutor: () => Promise<void>): Promise<void> {
  const { threadsBeforeDriver } = await import('../workers/threads.js');
  beforeDriver ??= await threadsBeforeDriver(startExecutor);
}

/** The processor use of this process's threads, now and before the first driver call. */
export const threads: Handler = async () => {
  const { readThreads } = await import('../workers/threads.js');
  return { beforeDriver, now: readThreads() };
};

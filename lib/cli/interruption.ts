/** Ctrl-C and its relatives: the first asks for the partial result, the second leaves at once. */
import { exitCodes } from './exit-codes.js';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export class InterruptedError extends Error {
  constructor(signal: string) {
    super(`Interrupted by ${signal} before anything was measured.`);
    this.name = 'InterruptedError';
  }
}

/** Runs a task under a signal that fires at the first interruption. */
export async function interruptible<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const listener = (name: NodeJS.Signals) => {
    // Leaving kills the workers' process groups (workers/process-group.ts).
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    controller.abort(new InterruptedError(name));
  };
  for (const signal of signals) process.on(signal, listener);
  try {
    return await task(controller.signal);
  } finally {
    for (const signal of signals) process.off(signal, listener);
  }
}

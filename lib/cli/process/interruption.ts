/**
 * Handles Ctrl-C and other signals. The first stops measuring: workers are asked to end, state is cleaned up, and the
 * results so far are written. The second kills the workers; clean-up and outputs still follow. The third exits at once.
 */
import { killKeptPrograms } from '../../workers/kept-program.js';
import { killWorkers } from '../../workers/worker.js';
import { exitCodes } from '../options/exit-codes.js';
import { say } from '../terminal/talk.js';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export class InterruptedError extends Error {
  constructor(signal: string) {
    super(`Interrupted by ${signal} before anything was measured.`);
    this.name = 'InterruptedError';
  }
}

/**
 * Runs a task with a signal that fires at the first interruption. Interruptions are still handled after the task,
 * because they would otherwise cut off the outputs, which are written then.
 */
export async function interruptible<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let interruptions = 0;
  const listener = (name: NodeJS.Signals) => {
    interruptions++;
    if (interruptions === 1) {
      say('Interrupted: stopping the workers, then writing what was measured. Interrupt again to kill them.');
      controller.abort(new InterruptedError(name));
    } else if (interruptions === 2) {
      say('Killing the workers, then cleaning up and writing what was measured. A third interruption exits at once.');
      killWorkers();
      killKeptPrograms();
      // Exiting kills the process groups that still run (workers/process-group.ts).
    } else process.exit(exitCodes.interrupted);
  };
  for (const signal of signals) process.on(signal, listener);
  return task(controller.signal);
}

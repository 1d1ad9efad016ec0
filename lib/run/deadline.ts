import { BenchError } from '../errors/bench-error.js';

/** Runs a task with a signal that also fires at the deadline; the promise then rejects with an error that says so. */
export async function withDeadline<T>(
  ms: number,
  signal: AbortSignal,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const message = `Timed out after ${ms / 1000} s: the measurement was stopped. If it only needs longer, raise --timeout.`;
  const timer = setTimeout(() => late.abort(new BenchError('WORKER', message)), ms);
  try {
    return await task(AbortSignal.any([signal, late.signal]));
  } catch (error) {
    // Node's own promises reject with an AbortError that does not say why.
    throw late.signal.aborted ? late.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

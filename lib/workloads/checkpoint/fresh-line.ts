/** The first line with a text that a program prints from now on. */
import type { Captured } from '../program/output.js';

/** When it was seen, of CLOCK_MONOTONIC in nanoseconds. Rejects with the signal's reason. */
export function freshLine(text: string, outputs: readonly Captured[], signal: AbortSignal): Promise<number> {
  return new Promise<number>((found, reject) => {
    const stop = () => {
      for (const output of outputs) output.onLine = null;
      signal.removeEventListener('abort', aborted);
    };
    const aborted = () => {
      stop();
      reject(signal.reason as Error);
    };
    // A listener gets all earlier lines at once.
    let isFresh = false;
    for (const output of outputs)
      output.onLine = (line) => {
        if (!isFresh || !line.includes(text)) return;
        stop();
        found(Number(process.hrtime.bigint()));
      };
    isFresh = true;
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) aborted();
  });
}

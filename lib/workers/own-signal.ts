import { setMaxListeners } from 'node:events';

/**
 * Fires with the caller's signal. Many share that one, and Node reports more than ten listeners on one signal as a
 * leak.
 */
export function ownSignal(signal: AbortSignal | undefined): AbortSignal {
  const own = signal ? AbortSignal.any([signal]) : new AbortController().signal;
  setMaxListeners(0, own);
  return own;
}

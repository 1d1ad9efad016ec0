import { setMaxListeners } from 'node:events';

/** Fires with the caller's, which many may share: more than ten listeners on that one would be taken for a leak. */
export function ownSignal(signal: AbortSignal | undefined): AbortSignal {
  const own = signal ? AbortSignal.any([signal]) : new AbortController().signal;
  setMaxListeners(0, own);
  return own;
}

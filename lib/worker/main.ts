/**
 * The program of a worker process. It answers the requests in requests.ts, and every function of the addon that needs a
 * session. Imports are late: the first statement is
 * the moment that START metrics call "main", and loading the addon is timed separately.
 */
const mainNs = process.hrtime.bigint();

const { loadAddon } = await import('../native/load.js');
const { serve } = await import('../workers/serve.js');
const { requests } = await import('./requests.js');
const { sessionCall } = await import('./session-call.js');

/** Only its guardian ends it (lib/checkpoint/guarded-launcher.ts). */
const isGuarded = process.env.GVB_GUARDED === '1';

/** Null if it cannot be loaded: every request then reports why. */
function timeToLoadAddon(): number | null {
  const before = process.hrtime.bigint();
  try {
    const addon = loadAddon();
    const after = process.hrtime.bigint();
    if (!isGuarded) addon.dieWithParent();
    return Number(after - before);
  } catch {
    return null;
  }
}

const find = (method: string) => (Object.hasOwn(requests, method) ? requests[method] : sessionCall(method));

serve(find, { mainNs, addonLoadNs: timeToLoadAddon() }, isGuarded);

export {};

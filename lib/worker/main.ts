/**
 * The program of a worker process: one file for each request that it answers. Imports are late: the first statement is
 * the moment that START metrics call "main", and loading the addon is timed separately.
 */
const mainNs = process.hrtime.bigint();

const { loadAddon } = await import('../native/load.js');
const { serve } = await import('../workers/serve.js');
const { requests } = await import('./requests.js');

/** Null if it cannot be loaded: every request then reports why. */
function timeToLoadAddon(): number | null {
  const before = process.hrtime.bigint();
  try {
    const addon = loadAddon();
    const after = process.hrtime.bigint();
    addon.dieWithParent();
    return Number(after - before);
  } catch {
    return null;
  }
}

serve(requests, { mainNs, addonLoadNs: timeToLoadAddon() });

export {};

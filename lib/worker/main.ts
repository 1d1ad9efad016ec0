/**
 * What a worker process executes: one file for each request that it answers. What they need is imported late: the first
 * statement is the moment START metrics call "main", and loading the addon is timed by itself.
 */
const mainNs = process.hrtime.bigint();

const { loadAddon } = await import('../native/load.js');
const { serve } = await import('../workers/serve.js');
const { requests } = await import('./requests.js');

/** Null where it cannot be loaded: every request then says why. */
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

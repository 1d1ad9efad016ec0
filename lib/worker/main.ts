/**
 * The program of a worker process. It answers the requests in requests.ts, and every function of the addon that needs a
 * session. Imports are late: the first statement is
 * the moment that START metrics call "main", and loading the addon is timed separately.
 */
const mainNs = process.hrtime.bigint();

const { loadAddon } = await import('../native/load.js');
const { serve } = await import('../workers/serve.js');
const { CONFINED_VARIABLE } = await import('../native/confined.js');
const { POD_VARIABLE } = await import('../workers/pod/pod-variables.js');
const { requests } = await import('./requests.js');
const { sessionCall } = await import('./session-call.js');

/** Only its guardian ends it (lib/checkpoint/guarded-launcher.ts). */
const isGuarded = process.env.GVB_GUARDED === '1';
/**
 * Whether the process that started it outlives it. In a pod that is the container runtime, which ends once it has started a
 * process, on a busy node even after the first statement of this one. There the end of stdin and of the pod end a worker.
 */
const hasLastingParent = process.env[POD_VARIABLE] === undefined;
const { [CONFINED_VARIABLE]: confinedTo } = process.env;

/** Null if it cannot be loaded: every request then reports why. */
function timeToLoadAddon(): number | null {
  const before = process.hrtime.bigint();
  try {
    const addon = loadAddon();
    const after = process.hrtime.bigint();
    if (!isGuarded && hasLastingParent) addon.dieWithParent();
    if (confinedTo !== undefined) addon.confineSessions({ multiprocessors: Number(confinedTo) });
    return Number(after - before);
  } catch {
    return null;
  }
}

const find = (method: string) => (Object.hasOwn(requests, method) ? requests[method] : sessionCall(method));

serve(find, { mainNs, addonLoadNs: timeToLoadAddon() }, isGuarded);

export {};

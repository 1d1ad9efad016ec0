import type { Target } from '../native/addon-types.js';
import { readGpuState, readGpuUtilization } from '../native/gpu-state.js';
import type { Handler } from '../workers/serve.js';

/** What the worker's NVML says of a card, or with `sinceMs` its utilisation since then. */
export const cardState: Handler = (params) => {
  const { target, uuid, sinceMs } = params as { target: Target; uuid: string; sinceMs?: number };
  return sinceMs === undefined ? readGpuState(target, uuid, 'all') : readGpuUtilization(target, uuid, sinceMs);
};

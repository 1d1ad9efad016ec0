import type { AllocationRequest } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** How long allocations and frees take beside what the tenant holds. */
export const allocations: Handler = async (params) => {
  const { allocNs, freeNs, ...block } = await (await heldSession()).ask('allocationBlock', params as AllocationRequest);
  return { ...block, allocNs: Array.from(allocNs), freeNs: Array.from(freeNs) };
};

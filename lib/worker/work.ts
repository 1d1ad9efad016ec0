import type { WorkRequest } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** Runs units of work for a time. */
export const work: Handler = async (params) => {
  const { unitNs, ...rest } = await (await heldSession()).block('work', params as WorkRequest);
  return { ...rest, unitNs: Array.from(unitNs) };
};

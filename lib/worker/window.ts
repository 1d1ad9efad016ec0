import type { WindowRequest } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** The same operation again and again for a time, beside other tenants. */
export const window: Handler = async (params) => {
  const { atNs, tookNs, ...window } = await (await heldSession()).ask('window', params as WindowRequest);
  return { ...window, atNs: Array.from(atNs), tookNs: Array.from(tookNs) };
};

import type { WindowRequest } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** Repeats one operation for a time, while other tenants run. */
export const window: Handler = async (params) => {
  const { atNs, tookNs, ...window } = await (await heldSession()).ask('window', params as WindowRequest);
  return { ...window, atNs: Array.from(atNs), tookNs: Array.from(tookNs) };
};

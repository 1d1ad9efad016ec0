import type { BlockTraceRequest } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** Where and when blocks ran, beside other tenants. */
export const blockTrace: Handler = async (params) =>
  (await heldSession()).ask('blockTrace', params as BlockTraceRequest);

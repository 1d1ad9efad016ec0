import type { BlockTraceRequest } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** Records where and when blocks ran, while other tenants run. */
export const blockTrace: Handler = async (params) =>
  (await heldSession()).ask('blockTrace', params as BlockTraceRequest);

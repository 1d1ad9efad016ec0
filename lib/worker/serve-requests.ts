import type { RequestsRequest } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** Requests at a fixed rate, beside other tenants. */
export const serveRequests: Handler = async (params) =>
  (await heldSession()).ask('requests', params as RequestsRequest);

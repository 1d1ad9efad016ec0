import type { RequestsRequest } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** Serves requests at a fixed rate, while other tenants run. */
export const serveRequests: Handler = async (params) =>
  (await heldSession()).ask('requests', params as RequestsRequest);

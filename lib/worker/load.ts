import type { LoadRequest } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** Kernels of one shape for a time, beside other tenants or alone. */
export const load: Handler = async (params) => (await heldSession()).ask('load', params as LoadRequest);

import type { LoadRequest } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** Runs kernels of one shape for a time, with or without other tenants. */
export const load: Handler = async (params) => (await heldSession()).ask('load', params as LoadRequest);

import type { AggressorRequest } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** Keeps one shared resource busy for a time, while other tenants run. */
export const aggressor: Handler = async (params) => (await heldSession()).ask('aggressor', params as AggressorRequest);

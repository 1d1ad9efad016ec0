import type { DiscoveryRequest } from '../native/addon-types.js';
import { native } from '../native/errors.js';
import { loadAddon } from '../native/load.js';
import type { Handler } from '../workers/serve.js';

/** Measures how long finding all GPUs through NVML takes. */
export const discovery: Handler = (params) => native(loadAddon().discovery(params as DiscoveryRequest));

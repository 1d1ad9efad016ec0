import type { DeviceTarget } from '../native/addon-types.js';
import { native } from '../native/errors.js';
import { loadAddon } from '../native/load.js';
import type { Handler } from '../workers/serve.js';

/** Fails in a kernel and tries to go on in this process, which is not used afterwards. */
export const contextReset: Handler = (params) => native(loadAddon().contextReset(params as DeviceTarget));

import type { CheckpointRequest } from '../native/addon-types.js';
import { native } from '../native/errors.js';
import { loadAddon } from '../native/load.js';
import type { Handler } from '../workers/serve.js';

/** Makes one call of a checkpoint controller, without a session: a controller has no context. */
export const checkpointCall: Handler = (params) => native(loadAddon().checkpointCall(params as CheckpointRequest));

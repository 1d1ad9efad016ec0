import { loadAddon } from '../native/load.js';
import type { Handler } from '../workers/serve.js';

/** Reads the worker's clock. */
export const clock: Handler = () => Promise.resolve({ nowNs: loadAddon().now() });

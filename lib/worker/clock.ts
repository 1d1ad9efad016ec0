import { loadAddon } from '../native/load.js';
import type { Handler } from '../workers/serve.js';

/** What its clock says now. */
export const clock: Handler = () => Promise.resolve({ nowNs: loadAddon().now() });

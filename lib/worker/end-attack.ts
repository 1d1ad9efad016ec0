import { loadAddon } from '../native/load.js';
import type { Handler } from '../workers/serve.js';

/** What attack.ts began ends at once, and is counted. */
export const endAttack: Handler = () => {
  loadAddon().endAttack();
  return Promise.resolve({});
};

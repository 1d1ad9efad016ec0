import type { Target } from '../native/addon-types.js';
import { native } from '../native/errors.js';
import { loadAddon } from '../native/load.js';
import { containerView } from './container-view.js';
import type { Handler } from '../workers/serve.js';

/**
 * Reports what this process sees: driver, devices, who owns each function, which preloads took effect, its environment.
 */
export const describe: Handler = async (params) => {
  const target = params as Target;
  const { preloadEntries } = await import('../systems/proof/ld-preload.js');
  const addon = loadAddon();
  const inspection = await native(addon.inspect(target));
  const provenance = await native(addon.provenance(target));
  const preload = preloadEntries();
  const container = await containerView(preload);
  const environment = { ...process.env };
  return { pid: process.pid, inspection, provenance, preload, environment, ...(container && { container }) };
};

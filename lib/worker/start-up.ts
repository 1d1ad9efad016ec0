import type { StartUpRequest } from '../native/addon-types.js';
import { native } from '../native/errors.js';
import { loadAddon } from '../native/load.js';
import type { Handler } from '../workers/serve.js';

/** Measures the start of this process from cuInit to the first kernel's result, step by step. */
export const startUp: Handler = async (params) => {
  const start = await native(loadAddon().startUp(params as StartUpRequest));
  const peakRssBytes = process.resourceUsage().maxRSS * 1024;
  // Imported late, because importing is not part of a program's start.
  const { preloadEntries } = await import('../systems/proof/ld-preload.js');
  return { ...start, peakRssBytes, preloaded: preloadEntries().flatMap(({ mapped }) => mapped ?? []) };
};

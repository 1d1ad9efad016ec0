import type { DeviceTarget } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { inSession, splitTarget } from './on-device.js';

/** Asks the layer about itself, and tries each of the given allocations. */
export const probe: Handler = (params) => {
  const { target, request } = splitTarget(params as DeviceTarget & { allocations: number[] });
  return inSession(target, (session) => session.ask('probeLayer', request));
};

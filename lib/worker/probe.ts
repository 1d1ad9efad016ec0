import type { DeviceTarget } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { inSession, splitTarget } from './on-device.js';

/** What the layer says of itself, and the fate of each allocation that is tried. */
export const probe: Handler = (params) => {
  const { target, request } = splitTarget(params as DeviceTarget & { allocations: number[] });
  return inSession(target, (session) => session.ask('probeLayer', request));
};

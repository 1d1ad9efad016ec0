import type { DeviceTarget, PacedLaunchRequest } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { inSession, splitTarget } from './on-device.js';

/** Measures launches at a slow, steady pace. */
export const pacedLaunches: Handler = (params) => {
  const { target, request } = splitTarget(params as DeviceTarget & PacedLaunchRequest);
  return inSession(target, (session) => session.block('pacedLaunches', request));
};

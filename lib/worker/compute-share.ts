import type { ComputeShareRequest, DeviceTarget } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { inSession, splitTarget } from './on-device.js';

/** Measures the share of time in which a load that fills the card ran. */
export const computeShare: Handler = (params) => {
  const { target, request } = splitTarget(params as DeviceTarget & ComputeShareRequest);
  return inSession(target, (session) => session.block('computeShare', request));
};

import type { DeviceTarget } from '../native/addon-types.js';
import { loadAddon } from '../native/load.js';
import type { Handler } from '../workers/serve.js';
import { inSession } from './on-device.js';

type Ask = (name: string, request: unknown) => Promise<unknown>;

/** Calls a function of the addon that needs a session; undefined if the addon has none of that name. */
export function sessionCall(name: string): Handler | undefined {
  if (!Object.hasOwn(loadAddon(), name)) return undefined;
  return (params) => {
    const { on, ...request } = (params ?? {}) as { on?: DeviceTarget };
    // The name determines the request's type, which TypeScript cannot follow through the protocol.
    return inSession(on, (session) => (session.ask as Ask).call(session, name, request));
  };
}

import type { DeviceTarget } from '../native/addon-types.js';
import { native } from '../native/errors.js';
import { loadAddon } from '../native/load.js';
import type { Handler } from '../workers/serve.js';
import { holdSession } from './on-device.js';
import { rememberThreads } from './threads.js';

const CONTEXT_FUNCTION = 'cuDevicePrimaryCtxRetain';

/** Opens the session that a tenant holds from here on. */
export const enter: Handler = async (params) => {
  const { Session } = await import('../native/session.js');
  const target = params as DeviceTarget;
  const { signal } = new AbortController();
  await rememberThreads(async () => (await Session.turn(signal)).close());
  await holdSession(target);
  const { functions } = await native(loadAddon().provenance(target));
  const created = functions.find(({ name }) => name === CONTEXT_FUNCTION);
  return { pid: process.pid, context: { function: CONTEXT_FUNCTION, owner: created?.owners[target.path] ?? null } };
};

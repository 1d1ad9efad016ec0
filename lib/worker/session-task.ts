import type { SessionTask } from '../workers/session-task.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** Runs one function of the addon on the session that a tenant holds. */
export const sessionTask: Handler = async (params) => {
  const { name, request: own, startAtNs } = params as SessionTask;
  const request = startAtNs === undefined ? own : { ...(own as object), startAtNs };
  const session = await heldSession();
  // The name determines the request's type, which TypeScript cannot follow through the protocol.
  const ask = session.ask.bind(session) as (name: string, ...request: unknown[]) => Promise<unknown>;
  return request === undefined ? ask(name) : ask(name, request);
};

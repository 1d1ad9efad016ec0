/** Functions of the addon, as requests to a worker: the session is its own. */
import type { AnswerOf, RequestOf, SessionCall } from '../native/session.js';
import type { Sent } from './protocol.js';
import type { Task, WorkerTenant } from './worker-tenant.js';

/** The request of a function; undefined if it needs none. */
type OneRequestOf<Name extends SessionCall> =
  RequestOf<Name> extends [infer Request extends object] ? Request : undefined;

/** The answer of a function, as a worker sends it. */
export type SentAnswerOf<Name extends SessionCall> = Sent<AnswerOf<Name>>;

/** Calls a function in one worker. Rejects if the function fails, or the worker dies. */
export type Ask = <Name extends SessionCall>(
  name: Name,
  request: OneRequestOf<Name>,
  deadlineMs: number,
) => Promise<SentAnswerOf<Name>>;

interface SessionRequest<Name extends SessionCall> {
  name: Name;
  request: OneRequestOf<Name>;
  deadlineMs: number;
}

/** A task for a release of several tenants, which adds the start time to the request. */
export const sessionTaskOf = <Name extends SessionCall>(
  name: Name,
  request: Omit<OneRequestOf<Name> & object, 'startAtNs'>,
): Task => ({ method: name, params: request });

/** Rejects if the function fails, or the tenant dies. */
export const askSession = <Name extends SessionCall>(
  tenant: WorkerTenant,
  { name, request, deadlineMs }: SessionRequest<Name>,
): Promise<SentAnswerOf<Name>> => tenant.request({ method: name, params: request }, deadlineMs);

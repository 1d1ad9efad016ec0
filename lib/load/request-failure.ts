/** Why a request counts as an error: a reason by which errors are counted, and a message about this one. */

export class RequestFailure extends Error {
  /** `reason` is short and the same for all errors of a kind, such as `status 429`. */
  constructor(
    readonly reason: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'RequestFailure';
  }
}

export const endedEarly = (where: string, without: string): RequestFailure =>
  new RequestFailure('stream ended early', `the stream ended ${where}, ${without}`);

/** Reason of a failure of this machine or process, so that the load was not the one that was asked for. */
export const OUT_OF_SOCKETS = 'client out of sockets';

const byCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'name not resolved',
  EAI_AGAIN: 'name not resolved',
  ECONNRESET: 'connection closed',
  EPIPE: 'connection closed',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  EMFILE: OUT_OF_SOCKETS,
  ENFILE: OUT_OF_SOCKETS,
  EADDRNOTAVAIL: OUT_OF_SOCKETS,
  ENOBUFS: OUT_OF_SOCKETS,
  // TLS with a server that speaks plain HTTP, or another version.
  EPROTO: 'TLS error',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS error',
};

/** Converts what Node reports of a connection. */
export function failureOf(error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error;
  const { code = '', message } = asError(error);
  const reason = byCode[code] ?? reasonOfFamily(code);
  // Several addresses were tried: the error has no message of its own.
  return new RequestFailure(reason, message === '' ? code || reason : message, { cause: error });
}

function reasonOfFamily(code: string): string {
  if (code.startsWith('HPE_')) return 'malformed answer';
  return /CERT|TLS|SSL/.test(code) ? 'TLS error' : 'connection failed';
}

const asError = (error: unknown): NodeJS.ErrnoException => (error instanceof Error ? error : new Error(String(error)));

/** The error that callers receive where nothing could be measured, distinguished by `code`; messages end with what to do. */

export type ErrorCode =
  | 'NO_DRIVER'
  | 'NO_ADDON'
  | 'FUNCTION_MISSING'
  | 'DRIVER_CONFLICT'
  | 'SIM_SETTINGS'
  | 'INVALID_RESULT'
  | 'NO_SUCH_DEVICE'
  | 'UNHEALTHY'
  | 'NO_THREAD'
  /** A process that measures ended, or did not answer. */
  | 'WORKER'
  /** Samples stopped coming from a GPU that a monitor watched. */
  | 'SAMPLING_ENDED'
  /** A system could not be set up, or could not be removed again. */
  | 'SYSTEM'
  /** A file could not be written. */
  | 'NOT_WRITABLE';

/** What kept something from being measured: `code` says what kind of thing, the message what to do. */
export class BenchError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BenchError';
    this.code = code;
  }
}

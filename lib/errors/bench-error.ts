/** The error that callers receive where nothing could be measured, distinguished by `code`; messages end with what to do. */

export type ErrorCode =
  /** The NVIDIA driver is missing, or could not start. */
  | 'NO_DRIVER'
  /** The native addon is missing, or could not be loaded. */
  | 'NO_ADDON'
  /** The driver lacks a function that the measurement needs. */
  | 'FUNCTION_MISSING'
  /** The process loaded a driver already, which cannot be exchanged for the simulated one. */
  | 'DRIVER_CONFLICT'
  /** `GVB_SIM` has a setting that the simulated GPU does not know. */
  | 'SIM_SETTINGS'
  /** What was measured cannot be a result, e.g. because a tenant did not work. */
  | 'INVALID_RESULT'
  /** No GPU is the one that was named. */
  | 'NO_SUCH_DEVICE'
  /** The machine was not idle and healthy (`strict`). */
  | 'UNHEALTHY'
  /** No thread could be started. */
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

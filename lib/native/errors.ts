/** The errors of driver calls, and the classes of those that the addon gives. */
import { BenchError, type ErrorCode } from '../errors/bench-error.js';
import { startRemedy } from './start-remedy.js';

/** CUDA_ERROR_OUT_OF_MEMORY. */
export const OUT_OF_MEMORY = 2;

/** A driver call that failed, and what to do if the driver did not start: `code` 700, `name` CUDA_ERROR_ILLEGAL_ADDRESS, `call` cuStreamSynchronize. */
export class CudaError extends Error {
  readonly code: number;
  readonly call: string;
  /** Whether less memory was free than the refused call wanted. Null: unknown, or refused for another reason. */
  readonly memoryIsShort: boolean | null;

  constructor(code: number, name: string, call: string, attempt: string, memoryIsShort: boolean | null = null) {
    const remedy = startRemedy(call, code, process.env);
    const advice = remedy ? ` ${remedy.cause}: ${remedy.command}` : '';
    super(`${call} returned ${name} (${code}) while ${attempt}.${advice}`);
    this.name = name;
    this.code = code;
    this.call = call;
    this.memoryIsShort = memoryIsShort;
  }
}

interface NativeFailure {
  kind:
    | 'cuda'
    | 'no-driver'
    | 'function-missing'
    | 'driver-conflict'
    | 'sim-settings'
    | 'invalid-result'
    | 'no-such-device'
    | 'no-thread'
    | 'aborted';
  message: string;
  code?: number;
  codeName?: string;
  call?: string;
  attempt?: string;
  memoryIsShort?: boolean;
}

const codes: Partial<Record<NativeFailure['kind'], ErrorCode>> = {
  'no-driver': 'NO_DRIVER',
  'function-missing': 'FUNCTION_MISSING',
  'driver-conflict': 'DRIVER_CONFLICT',
  'sim-settings': 'SIM_SETTINGS',
  'invalid-result': 'INVALID_RESULT',
  'no-such-device': 'NO_SUCH_DEVICE',
  'no-thread': 'NO_THREAD',
};

function isNativeFailure(value: unknown): value is NativeFailure {
  return value instanceof Error && 'kind' in value && typeof value.kind === 'string';
}

/** Converts the addon's rejections to the public classes; an abort becomes the signal's own reason. */
export function fromNative(failure: unknown, signal?: AbortSignal): unknown {
  if (!isNativeFailure(failure)) return failure;
  if (failure.kind === 'aborted') return signal?.aborted ? signal.reason : failure;
  if (failure.kind === 'cuda') {
    const { code = -1, codeName = 'unknown', call = '', attempt = '', memoryIsShort = null } = failure;
    return new CudaError(code, codeName, call, attempt, memoryIsShort);
  }
  const code = codes[failure.kind];
  return code ? new BenchError(code, failure.message) : failure;
}

/** The addon's promise; it rejects with the public classes. */
export async function native<T>(task: Promise<T>): Promise<T> {
  try {
    return await task;
  } catch (error) {
    throw fromNative(error);
  }
}

/** The state of a row that cannot be measured: it has a reason, and the other rows are still measured. */
import { BenchError } from '../../errors/bench-error.js';
import { CudaError, OUT_OF_MEMORY } from '../../native/errors.js';
import { UnprovenProcess } from '../../systems/proof/process-proofs.js';
import { type Measured, unsupported } from './metric.js';

export type RowState = { unsupported: string } | { failed: string };

/** Codes after which a context fails every call: no later row could be measured. */
const STICKY: ReadonlySet<number> = new Set([4, 201, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 720, 999]);

export const isOutOfMemory = (error: unknown): error is CudaError =>
  error instanceof CudaError && error.code === OUT_OF_MEMORY;

/** Whether a refusal is to be expected: less memory was free than was asked for, as far as is known. */
export const isTooSmall = (error: unknown): error is CudaError => isOutOfMemory(error) && error.memoryIsShort !== false;

/** The reason for which a metric has no number where an allocation that all of it needs was refused. */
export const doesNotFit = ({ message }: CudaError): string => `it does not fit into the memory: ${message}`;

/** Whether the driver, the GPU or a layer does not offer what was asked for. */
export const isMissingFunction = (error: unknown): error is BenchError & { code: 'FUNCTION_MISSING' } =>
  error instanceof BenchError && error.code === 'FUNCTION_MISSING';

/** Measured, or unsupported because `what`, as in `4 tenants`, do not fit into memory. */
export async function unlessFull<Details>(
  what: string,
  measured: Promise<Measured<Details>>,
): Promise<Measured<Details>> {
  try {
    return await measured;
  } catch (error) {
    if (isOutOfMemory(error)) return unsupported(`${what} do not fit: ${error.message}`);
    throw error;
  }
}

/** Null if the error affects more than the row and must be rethrown. */
export function rowState(error: unknown): RowState | null {
  if (error instanceof CudaError) return STICKY.has(error.code) ? null : { failed: error.message };
  if (!(error instanceof BenchError) || error instanceof UnprovenProcess) return null;
  if (isMissingFunction(error)) return { unsupported: error.message };
  return error.code === 'INVALID_RESULT' ? { failed: error.message } : null;
}

/** The exit codes. If several apply, the first in this order is used. */
import type { ErrorCode } from '../../errors/bench-error.js';

export const exitCodes = {
  interrupted: 130,
  usage: 2,
  notAttested: 5,
  isolationBreach: 4,
  gateFailed: 3,
  failed: 1,
  ok: 0,
} as const;

/** If several apply. */
export const firstOf = (codes: readonly number[]): number =>
  Object.values(exitCodes).find((code) => codes.includes(code)) ?? exitCodes.ok;

/** Library errors that the caller caused: a GVB_SIM key, a device that does not exist. */
const usageCodes: readonly unknown[] = ['SIM_SETTINGS', 'NO_SUCH_DEVICE'] satisfies ErrorCode[];

/** `error` as thrown by commander, by option checks, or by anything below. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof Error)) return exitCodes.failed;
  if (error.name === 'InterruptedError') return exitCodes.interrupted;
  if (error.name === 'UsageError') return exitCodes.usage;
  return 'code' in error && usageCodes.includes(error.code) ? exitCodes.usage : exitCodes.failed;
}

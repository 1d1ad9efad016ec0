/**
 * The line protocol between a coordinator and its workers: one JSON object per line, distinguished from a layer's
 * output by its `gvb` key. It uses only stdin and stdout, so it works through docker, srun and kubectl exec.
 */
import { messageOf } from '../errors/message-of.js';
import { BenchError, type ErrorCode } from '../errors/bench-error.js';
import { CudaError } from '../native/errors.js';

export interface Request {
  gvb: 'request';
  id: number;
  method: string;
  params: unknown;
}

export type Reply =
  | { gvb: 'ready'; pid: number; mainNs: string; addonLoadNs: number | null }
  | { gvb: 'progress'; id: number; value: unknown }
  | { gvb: 'result'; id: number; value: unknown }
  | { gvb: 'error'; id: number; error: ErrorData };

interface ErrorData {
  kind: 'bench' | 'cuda' | 'type' | 'range' | 'other';
  message: string;
  code?: string | number;
  name?: string;
  call?: string;
  memoryIsShort?: boolean | null;
}

/** A value as it arrives: samples are arrays of numbers. */
export type Sent<T> = T extends Float64Array ? number[] : T extends object ? { [Key in keyof T]: Sent<T[Key]> } : T;

const asArray = (_: string, value: unknown): unknown => (value instanceof Float64Array ? Array.from(value) : value);

/** Starts with a newline, because a layer may have left a line of its own unfinished on the same stream. */
export const encode = (message: Request | Reply): string => `\n${JSON.stringify(message, asArray)}\n`;

const kinds: readonly unknown[] = ['request', 'ready', 'progress', 'result', 'error'];

/** Checks only the envelope; the requester checks the content. Similar output of a layer is ignored. */
function isMessage(value: unknown): value is Request | Reply {
  if (typeof value !== 'object' || value === null || !('gvb' in value) || !kinds.includes(value.gvb)) return false;
  if (value.gvb === 'ready') return 'pid' in value && 'mainNs' in value && typeof value.mainNs === 'string';
  if (value.gvb === 'error') return 'error' in value && typeof value.error === 'object' && value.error !== null;
  return 'id' in value && Number.isInteger(value.id);
}

export function decode(line: string): Request | Reply | null {
  if (!line.startsWith('{"gvb":')) return null;
  try {
    const message: unknown = JSON.parse(line);
    return isMessage(message) ? message : null;
  } catch {
    return null;
  }
}

export function errorToData(error: unknown): ErrorData {
  if (error instanceof BenchError) return { kind: 'bench', message: error.message, code: error.code };
  if (error instanceof CudaError)
    return {
      kind: 'cuda',
      message: error.message,
      code: error.code,
      name: error.name,
      call: error.call,
      memoryIsShort: error.memoryIsShort,
    };
  if (error instanceof TypeError) return { kind: 'type', message: error.message };
  if (error instanceof RangeError) return { kind: 'range', message: error.message };
  return { kind: 'other', message: messageOf(error) };
}

export function errorFromData(data: ErrorData): Error {
  switch (data.kind) {
    case 'bench':
      return new BenchError(data.code as ErrorCode, data.message);
    case 'cuda': {
      const { code, name = 'unknown', call = '', memoryIsShort = null } = data;
      const error = new CudaError(Number(code), name, call, '', memoryIsShort);
      error.message = data.message;
      return error;
    }
    case 'type':
      return new TypeError(data.message);
    case 'range':
      return new RangeError(data.message);
    default:
      return new Error(data.message);
  }
}

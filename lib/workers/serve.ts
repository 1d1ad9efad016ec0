/** The worker's side of the protocol: answers requests from stdin until it closes, then the process ends. */
import { createInterface } from 'node:readline';
import { decode, encode, errorToData, type Request } from './protocol.js';

export type Handler = (params: unknown, progress: (value: unknown) => void) => Promise<unknown>;

interface Birth {
  /** CLOCK_MONOTONIC at the first statement of the process. */
  mainNs: bigint;
  addonLoadNs: number | null;
}

/** Progress is for people; more of it would disturb the measurement. */
const PROGRESS_EVERY_MS = 200;

/** Finds the handler of a method; undefined for an unknown one. */
type FindHandler = (method: string) => Handler | undefined;

/** `isGuarded`: the process outlives its coordinator, until its guardian ends it. */
export function serve(find: FindHandler, birth: Birth, isGuarded = false): void {
  // A process without anything to wait for would end.
  const end = isGuarded ? () => void setInterval(() => {}, 60_000) : () => process.exit(0);
  // A coordinator that has ended closes the pipe, so nobody would read an error report.
  process.stdout.on('error', end);
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const message = decode(line);
    if (message?.gvb === 'request') void answer(find, message);
  });
  lines.on('close', end);
  const { mainNs, addonLoadNs } = birth;
  process.stdout.write(encode({ gvb: 'ready', pid: process.pid, mainNs: String(mainNs), addonLoadNs }));
}

async function answer(find: FindHandler, { id, method, params }: Request): Promise<void> {
  try {
    const handler = find(method);
    if (!handler) throw new Error(`This worker knows no request named ${method}.`);
    const value = await handler(params, throttled(id));
    process.stdout.write(encode({ gvb: 'result', id, value }));
  } catch (error) {
    process.stdout.write(encode({ gvb: 'error', id, error: errorToData(error) }));
  }
}

function throttled(id: number): (value: unknown) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (value) => {
    const now = performance.now();
    if (now - last < PROGRESS_EVERY_MS) return;
    last = now;
    process.stdout.write(encode({ gvb: 'progress', id, value }));
  };
}

/** When a program can serve: it prints a line, listens at a port, answers HTTP, or makes a file. */
import { setTimeout as sleep } from 'node:timers/promises';
import { quoted } from '../../errors/usage-error.js';
import type { Captured } from './output.js';
import { look, type NotReady } from './ready-look.js';
import { publicUrl } from '../settings/secrets.js';
import type { Readiness } from '../workload-type.js';

/** Time between two looks at a port, an endpoint or a file: the resolution of the time to ready. */
const LOOK_MS = 5;

interface ReadyContext {
  cwd: string;
  outputs: readonly Captured[];
  signal: AbortSignal;
  /** Called when the reason why the program is not ready changes. */
  onWaiting?: (notReady: NotReady) => void;
}

const nowNs = (): number => Number(process.hrtime.bigint());

export function readinessText(ready: Readiness): string {
  if (ready.by === 'line') return `a line with ${quoted(ready.text)}`;
  if (ready.by === 'port') return `port ${ready.port}`;
  return ready.by === 'http' ? `an answer of ${publicUrl(ready.url)}` : `file ${quoted(ready.path)}`;
}

/** Why a program would seem ready before it starts; null if it would not. */
export async function readyTooEarly(ready: Readiness, context: ReadyContext): Promise<string | null> {
  if (ready.by === 'line' || (await look(ready, context.cwd, context.signal)) !== null) return null;
  const what = { port: 'something else listens at', http: 'something else gives', file: 'there already is' }[ready.by];
  return `${what} ${readinessText(ready)} before it starts: stop or remove that, e.g. in setup`;
}

/** Returns when readiness was seen, in nanoseconds of CLOCK_MONOTONIC. Rejects with the signal's reason. */
export async function whenReady(ready: Readiness, context: ReadyContext): Promise<number> {
  const { signal, outputs, cwd, onWaiting } = context;
  if (ready.by === 'line') return lineSeen(ready.text, outputs, signal);
  for (let before = ''; ;) {
    const notReady = await look(ready, cwd, signal);
    if (notReady === null) return nowNs();
    // A look that was ended has seen nothing.
    signal.throwIfAborted();
    if (notReady.reason !== before) onWaiting?.(notReady);
    before = notReady.reason;
    await sleep(LOOK_MS, undefined, { signal });
  }
}

function lineSeen(text: string, outputs: readonly Captured[], signal: AbortSignal): Promise<number> {
  return new Promise<number>((found, reject) => {
    const stop = () => {
      for (const output of outputs) output.onLine = null;
      signal.removeEventListener('abort', aborted);
    };
    const aborted = () => {
      stop();
      reject(signal.reason as Error);
    };
    for (const output of outputs)
      output.onLine = (line) => {
        if (!line.includes(text)) return;
        stop();
        found(nowNs());
      };
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) aborted();
  });
}

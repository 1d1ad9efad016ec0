/** When a program can serve: it prints a line, listens at a port, answers HTTP, or makes a file. */
import { stat } from 'node:fs/promises';
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { quoted } from '../errors/usage-error.js';
import type { Captured } from './output.js';
import { publicUrl } from './secrets.js';
import type { Readiness } from './workload-type.js';

/** Time between two looks at a port, an endpoint or a file: the resolution of the time to ready. */
const LOOK_MS = 5;
const LONGEST_ANSWER_MS = 2_000;
const HOST = '127.0.0.1';

export interface ReadyContext {
  cwd: string;
  outputs: readonly Captured[];
  signal: AbortSignal;
}

const nowNs = (): number => Number(process.hrtime.bigint());

export function readinessText(ready: Readiness): string {
  if (ready.by === 'line') return `a line with ${quoted(ready.text)}`;
  if (ready.by === 'port') return `port ${ready.port}`;
  return ready.by === 'http' ? `an answer of ${publicUrl(ready.url)}` : `file ${quoted(ready.path)}`;
}

/** Why a program would seem ready before it starts; null if it would not. */
export async function readyTooEarly(ready: Readiness, context: ReadyContext): Promise<string | null> {
  if (ready.by === 'line' || !(await looksReady(ready, context))) return null;
  const what = { port: 'something else listens at', http: 'something else gives', file: 'there already is' }[ready.by];
  return `${what} ${readinessText(ready)} before it starts: stop or remove that, e.g. in setup`;
}

/** The time, of CLOCK_MONOTONIC in nanoseconds, at which it was seen. Rejects with the signal's reason. */
export async function whenReady(ready: Readiness, context: ReadyContext): Promise<number> {
  const { signal, outputs } = context;
  if (ready.by === 'line') return lineSeen(ready.text, outputs, signal);
  while (!(await looksReady(ready, context))) await sleep(LOOK_MS, undefined, { signal });
  return nowNs();
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

type Looked = Exclude<Readiness, { by: 'line' }>;

function looksReady(ready: Looked, { cwd, signal }: ReadyContext): Promise<boolean> {
  if (ready.by === 'port') return accepts(ready.port, signal);
  if (ready.by === 'http') return answers(ready.url, signal);
  return stat(resolve(cwd, ready.path)).then(
    () => true,
    () => false,
  );
}

function accepts(port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((found) => {
    const socket = connect({ port, host: HOST, signal });
    const done = (open: boolean) => {
      socket.destroy();
      found(open);
    };
    socket.once('connect', () => done(true)).on('error', () => done(false));
    socket.setTimeout(LONGEST_ANSWER_MS, () => done(false));
  });
}

function answers(url: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((found) => {
    const get = url.startsWith('https:') ? getHttps : getHttp;
    // A connection of its own, so that no later look finds it half used.
    const request = get(url, { signal, agent: false }, ({ statusCode = 0 }) => {
      request.destroy();
      found(statusCode >= 200 && statusCode < 300);
    });
    request.on('error', () => found(false));
    request.setTimeout(LONGEST_ANSWER_MS, () => {
      request.destroy();
      found(false);
    });
  });
}

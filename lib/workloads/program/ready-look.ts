/** One look at whether a program can serve: a connection, an answer of HTTP, or a file. */
import { stat } from 'node:fs/promises';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { quoted } from '../../errors/usage-error.js';
import { failureOf } from '../../load/request-failure.js';
import { publicUrl } from '../settings/secrets.js';
import type { Readiness } from '../workload-type.js';

export type Looked = Exclude<Readiness, { by: 'line' }>;

/** Why a program is not ready. */
export interface NotReady {
  reason: string;
  /** Whether this is normal for a program that only needs longer. */
  isOfStart: boolean;
}

const LONGEST_ANSWER_MS = 2_000;
/** Addresses at which servers may listen, depending on what they take localhost to be. */
const LOOPBACK = ['127.0.0.1', '::1'] as const;

/** Tests once whether a program is ready; null if it is. */
export function look(ready: Looked, cwd: string, signal: AbortSignal): Promise<NotReady | null> {
  if (ready.by === 'port') return firstReady(LOOPBACK.map((host) => () => accepts(host, ready.port, signal)));
  if (ready.by === 'http') return firstReady(urlsOf(ready.url).map((url) => () => answers(url, signal)));
  return stat(resolve(cwd, ready.path)).then(
    () => null,
    (error: NodeJS.ErrnoException) => ({
      reason: error.code === 'ENOENT' ? 'there is no such file' : error.message,
      isOfStart: error.code === 'ENOENT',
    }),
  );
}

/**
 * Tests addresses one after another, because a server has one request at a time to answer. Null if one is ready, else
 * the most informative reason.
 */
async function firstReady(looks: readonly (() => Promise<NotReady | null>)[]): Promise<NotReady | null> {
  const found: NotReady[] = [];
  for (const each of looks) {
    const notReady = await each();
    if (notReady === null) return null;
    found.push(notReady);
  }
  const says = [
    ({ isOfStart }: NotReady) => !isOfStart,
    ({ reason }: NotReady) => reason.startsWith('status'),
    () => true,
  ];
  return says.flatMap((each) => found.find(each) ?? [])[0] ?? null;
}

/**
 * The URL itself, and for a host of this machine both of its addresses. Not for https: a certificate is for the name
 * that was given.
 */
function urlsOf(text: string): URL[] {
  const url = new URL(text);
  const hosts = LOOPBACK.map((host) => (host.includes(':') ? `[${host}]` : host));
  if (url.protocol !== 'http:' || !['localhost', ...hosts].includes(url.hostname)) return [url];
  const others = hosts.filter((host) => host !== url.hostname);
  return [...(url.hostname === 'localhost' ? [] : [url]), ...others.map((host) => withHost(url, host))];
}

function withHost(url: URL, host: string): URL {
  const other = new URL(url);
  other.hostname = host;
  return other;
}

/** Errors of a port at which nobody listens yet; the last three are those of a machine without IPv6. */
const OF_START = ['ECONNREFUSED', 'ECONNRESET', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENETUNREACH'];

function notConnected(error: NodeJS.ErrnoException): NotReady {
  const { reason, message } = failureOf(error);
  return {
    reason: message.startsWith(reason) ? message : `${reason}: ${message}${adviceFor(reason)}`,
    isOfStart: OF_START.includes(error.code ?? ''),
  };
}

const adviceFor = (reason: string): string =>
  reason === 'TLS error'
    ? '; NODE_EXTRA_CA_CERTS=FILE in the environment of this command makes a certificate trusted, and a port needs none'
    : '';

const silent = (what: string): NotReady => ({
  reason: `${what} within ${LONGEST_ANSWER_MS / 1_000} s`,
  isOfStart: true,
});

function accepts(host: string, port: number, signal: AbortSignal): Promise<NotReady | null> {
  return new Promise((found) => {
    const socket = connect({ port, host, signal });
    const done = (notReady: NotReady | null) => {
      socket.destroy();
      found(notReady);
    };
    socket.once('connect', () => done(null)).on('error', (error) => done(notConnected(error)));
    socket.setTimeout(LONGEST_ANSWER_MS, () => done(silent('no connection')));
  });
}

function answers(url: URL, signal: AbortSignal): Promise<NotReady | null> {
  return new Promise((found) => {
    const get = url.protocol === 'https:' ? getHttps : getHttp;
    // A connection of its own, so that no later look finds it half used.
    const request = get(url, { signal, agent: false }, (response) => {
      request.destroy();
      found(refusal(response));
    });
    request.on('error', (error) => found(notConnected(error)));
    request.setTimeout(LONGEST_ANSWER_MS, () => {
      found(silent('no answer'));
      request.destroy();
    });
  });
}

function refusal({ statusCode: status = 0, headers }: IncomingMessage): NotReady | null {
  if (status >= 200 && status < 300) return null;
  const to = headers.location === undefined ? '' : ` to ${quoted(publicUrl(headers.location))}`;
  const hint =
    status >= 300 && status < 400
      ? `, a redirect${to}, which is not followed: give the URL it leads to`
      : status === 401 || status === 403
        ? ': it asks for authorization; give a path that needs none, or a port'
        : '';
  return { reason: `status ${status}${hint}`, isOfStart: status === 503 };
}

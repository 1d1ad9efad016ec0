/** The settings of a load, checked key by key: the same from YAML and from a program. docs/load.md describes each. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { messageOf } from '../errors/message-of.js';
import { type Values } from '../config/values.js';
import { BODY_KEYS, bodyOf } from './load-body.js';
import { type Arrivals, LOAD_DEFAULTS, type LoadApi, type LoadPlan } from './load-plan.js';

/** The keys of a load, for the `Values` that `readLoad` takes. */
export const LOAD_KEYS = [
  ...['url', 'api', 'method', 'headers', ...BODY_KEYS],
  ...['requests', 'concurrency', 'ratePerSecond', 'seed', 'warmup', 'timeout'],
] as const;

const MOST_REQUESTS = 100_000;
/** Each is a connection, and needs a file descriptor. */
const MOST_CONCURRENCY = 10_000;
/** At a lower rate, a run would have few arrivals in an hour. */
const [LEAST_RATE, MOST_RATE] = [0.001, 100_000];
const MOST_SECONDS = 86_400;
const MOST_SEED = 2 ** 32 - 1;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const APIS = ['http', 'chat', 'completions'] as const;

/** `values` are of LOAD_KEYS. Throws SettingError. */
export function readLoad(values: Values): LoadPlan {
  const api = values.choice('api', APIS) ?? 'http';
  const body = bodyOf(values, api);
  const requests = values.integer('requests', 1, MOST_REQUESTS);
  if (requests === undefined)
    throw values.error('requests', `Expected ${values.named('requests')} to be how many to send but received nothing.`);
  return {
    api,
    url: urlOf(values),
    method: methodOf(values, api, body),
    headers: headersOf(values, api, body),
    body,
    requests,
    warmup: values.integer('warmup', 0, MOST_REQUESTS) ?? LOAD_DEFAULTS.warmup,
    arrivals: arrivalsOf(values),
    timeoutMs: timeoutOf(values) * 1_000,
  };
}

function urlOf(values: Values): URL {
  const text = values.required('url');
  const example = 'such as http://127.0.0.1:8000/v1/chat/completions';
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw values.expected('url', `a URL of http or https ${example}`);
  // A user and a password would be shown and stored with the URL.
  if (url.username !== '' || url.password !== '')
    throw values.error(
      'url',
      `Expected ${values.named('url')} to hold no user or password: give them as authorization in headers.`,
    );
  url.hash = '';
  return url;
}

function methodOf(values: Values, api: LoadApi, body: string | null): string {
  const method = values.choice('method', METHODS);
  if (api !== 'http' && method !== undefined && method !== 'POST')
    throw values.expected('method', 'POST', `api: ${api} takes no other; leave it out.`);
  if (method === 'GET' && body !== null)
    throw values.expected('method', 'one with a body', 'a GET request has none; leave body out or use POST.');
  return method ?? (body === null ? 'GET' : 'POST');
}

/** Headers that the client sets itself: end and coding of the body, and the connection. */
const OURS = [
  ...['content-length', 'transfer-encoding', 'te', 'trailer', 'connection', 'keep-alive', 'upgrade', 'expect'],
  ...['proxy-connection', 'accept-encoding'],
];

function headersOf(values: Values, api: LoadApi, body: string | null): Record<string, string> {
  const usual: [string, string][] = api === 'http' ? [] : [['accept', 'text/event-stream']];
  if (body !== null) usual.push(['content-type', isJson(body) ? 'application/json' : 'text/plain; charset=utf-8']);
  const headers = new Map(usual);
  const given = new Set<string>();
  for (const [name, value] of Object.entries(values.map('headers') ?? {})) {
    const key = name.toLowerCase();
    if (typeof value !== 'string') throw values.expected('headers', 'a map of names to texts', `${name} is not text.`);
    if (OURS.includes(key)) throw values.expected('headers', 'headers of yours', `${key} is set by the client itself.`);
    if (given.has(key)) throw values.expected('headers', 'a map of different names', `${key} is there twice.`);
    values.within('headers', () => checkHeader(values, name, value));
    given.add(key);
    headers.set(key, value);
  }
  return Object.fromEntries(headers);
}

function checkHeader(values: Values, name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch (error) {
    // The value may be a secret, and Node's message has only the name.
    throw values.error('headers', `Expected ${values.named('headers')} to be headers of HTTP: ${messageOf(error)}.`);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function arrivalsOf(values: Values): Arrivals {
  const concurrency = values.integer('concurrency', 1, MOST_CONCURRENCY);
  const rate = { least: LEAST_RATE, most: MOST_RATE };
  const ratePerSecond = values.number('ratePerSecond', `a number from ${LEAST_RATE} to ${MOST_RATE}`, rate);
  if ((concurrency === undefined) === (ratePerSecond === undefined))
    throw values.error(
      concurrency === undefined ? 'requests' : 'ratePerSecond',
      `Expected ${values.owner} to have either concurrency or ratePerSecond but received ${concurrency === undefined ? 'neither' : 'both'}: concurrency sends the next request after an answer, ratePerSecond at random times that no answer delays.`,
    );
  const seed = values.integer('seed', 0, MOST_SEED);
  if (ratePerSecond !== undefined) return { loop: 'open', ratePerSecond, seed: seed ?? LOAD_DEFAULTS.seed };
  if (seed !== undefined)
    throw values.error('seed', `Expected ${values.named('seed')} together with ratePerSecond: nothing else is random.`);
  return { loop: 'closed', concurrency: concurrency as number };
}

function timeoutOf(values: Values): number {
  const what = `a number of seconds from 0.001 to ${MOST_SECONDS}`;
  return values.number('timeout', what, { least: 0.001, most: MOST_SECONDS }) ?? LOAD_DEFAULTS.timeoutSeconds;
}

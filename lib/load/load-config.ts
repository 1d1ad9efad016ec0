/** The settings of a load, checked key by key: the same from YAML and from a program. docs/load.md describes each. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { messageOf } from '../errors/message-of.js';
import type * as v from 'valibot';
import { choice, type Field, integer, key, map, needed, number, text } from '../config/schema.js';
import type { Place } from '../config/setting-place.js';
import type { RawMap } from '../config/raw.js';
import { ofForms, read, settings } from '../config/read.js';
import { bodyOf } from './load-body.js';
import { type Arrivals, LOAD_DEFAULTS, type LoadPlan } from './load-plan.js';

const MOST_REQUESTS = 100_000;
/** Most requests at a time. Each is a connection, and needs a file descriptor. */
const MOST_CONCURRENCY = 10_000;
/** Bounds of the rate per second. With a lower rate, a run would have few arrivals in an hour. */
const [LEAST_RATE, MOST_RATE] = [0.001, 100_000];
const MOST_SECONDS = 86_400;
const MOST_SEED = 2 ** 32 - 1;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const APIS = ['http', 'chat', 'completions'] as const;
const MOST_TOKENS = 1_000_000;

const headers = (): Field<Readonly<Record<string, string>>, RawMap> =>
  map<Readonly<Record<string, string>>>({ type: 'object', additionalProperties: { type: 'string' } });

const PROMPT = ['model', 'prompt', 'maxTokens'];

const entries = settings({
  url: needed(text(), 'http or https.'),
  api: key(
    choice(APIS),
    '`chat` and `completions`: streamed answers of an OpenAI-compatible server; `http`: any answer.',
    'http',
  ),
  method: key(choice(METHODS), 'Method of the requests, for api http. Default: GET, and POST with a body.'),
  headers: key(headers(), 'Headers of every request.'),
  body: key(text(), 'The whole request; for chat and completions as JSON, of which `stream` is set.'),
  model: key(text(), 'Model that is asked, for chat and completions with a prompt.'),
  prompt: key(
    text(),
    'Prompt of the requests, for chat and completions. `{request}` in it or in a body stands for the number of the request.',
  ),
  maxTokens: key(
    integer(1, MOST_TOKENS),
    `Most tokens of an answer, with a prompt. Default: ${LOAD_DEFAULTS.maxTokens}.`,
  ),
  requests: needed(integer(1, MOST_REQUESTS), 'Number of counted requests.'),
  concurrency: key(integer(1, MOST_CONCURRENCY), 'Closed loop: this many requests at a time. Or `ratePerSecond`.'),
  ratePerSecond: key(
    number(`a number from ${LEAST_RATE} to ${MOST_RATE}`, { least: LEAST_RATE, most: MOST_RATE }),
    'Open loop: Poisson arrivals, which no answer delays. Or `concurrency`.',
  ),
  seed: key(integer(0, MOST_SEED), `Seed of the arrivals, with ratePerSecond. Default: ${LOAD_DEFAULTS.seed}.`),
  warmup: key(integer(0, MOST_REQUESTS), 'Uncounted requests before them.', LOAD_DEFAULTS.warmup),
  timeout: key(
    number(`a number of seconds from 0.001 to ${MOST_SECONDS}`, { least: 0.001, most: MOST_SECONDS }),
    'Seconds per request, from when it is sent to the end of its answer.',
    LOAD_DEFAULTS.timeoutSeconds,
  ),
});

export const loadSettings = ofForms(
  entries,
  [
    { with: ['concurrency'], without: ['ratePerSecond', 'seed'] },
    { with: ['ratePerSecond'], without: ['concurrency'] },
  ],
  [
    { with: [], without: PROMPT, where: { api: ['http'] } },
    { with: ['api', 'model', 'prompt'], without: ['body'], where: { api: ['chat', 'completions'] } },
    { with: ['api', 'body'], without: PROMPT, where: { api: ['chat', 'completions'] } },
  ],
);

type GivenLoad = v.InferOutput<typeof loadSettings>;

/** Reads the settings of a load. Throws SettingError. */
export const readLoad = (place: Place): LoadPlan => loadPlan(read(loadSettings, place), place);

/** Checks what `read` cannot know. Throws SettingError. */
export function loadPlan(given: GivenLoad, place: Place): LoadPlan {
  const { api, requests, warmup, timeout } = given;
  const body = bodyOf(given, place);
  return {
    api,
    url: urlOf(given, place),
    method: methodOf(given, place, body),
    headers: headersOf(given, place, body),
    body,
    requests,
    warmup,
    arrivals: arrivalsOf(given, place),
    timeoutMs: timeout * 1_000,
  };
}

function urlOf({ url: text }: GivenLoad, place: Place): URL {
  const example = 'such as http://127.0.0.1:8000/v1/chat/completions';
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw place.expected('url', `a URL of http or https ${example}`);
  // A user and a password would be shown and stored with the URL.
  if (url.username !== '' || url.password !== '')
    throw place.error(
      'url',
      `Expected ${place.named('url')} to hold no user or password: give them as authorization in headers.`,
    );
  url.hash = '';
  return url;
}

function methodOf({ api, method }: GivenLoad, place: Place, body: string | null): string {
  if (api !== 'http' && method !== undefined && method !== 'POST')
    throw place.expected('method', 'POST', `api: ${api} takes no other; leave it out.`);
  if (method === 'GET' && body !== null)
    throw place.expected('method', 'one with a body', 'a GET request has none; leave body out or use POST.');
  return method ?? (body === null ? 'GET' : 'POST');
}

/** Headers that the client sets itself: end and coding of the body, and the connection. */
const OURS = [
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'proxy-connection',
  'accept-encoding',
];

function headersOf({ api, headers: own = {} }: GivenLoad, place: Place, body: string | null): Record<string, string> {
  const usual: [string, string][] = api === 'http' ? [] : [['accept', 'text/event-stream']];
  if (body !== null) usual.push(['content-type', isJson(body) ? 'application/json' : 'text/plain; charset=utf-8']);
  const headers = new Map(usual);
  const given = new Set<string>();
  for (const [name, value] of Object.entries(own)) {
    const key = name.toLowerCase();
    if (typeof value !== 'string') throw place.expected('headers', 'a map of names to texts', `${name} is not text.`);
    if (OURS.includes(key)) throw place.expected('headers', 'headers of yours', `${key} is set by the client itself.`);
    if (given.has(key)) throw place.expected('headers', 'a map of different names', `${key} is there twice.`);
    place.within('headers', () => checkHeader(place, name, value));
    given.add(key);
    headers.set(key, value);
  }
  return Object.fromEntries(headers);
}

function checkHeader(place: Place, name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch (error) {
    // The value may be a secret, and Node's message has only the name.
    throw place.error('headers', `Expected ${place.named('headers')} to be headers of HTTP: ${messageOf(error)}.`);
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

function arrivalsOf({ concurrency, ratePerSecond, seed }: GivenLoad, place: Place): Arrivals {
  if ((concurrency === undefined) === (ratePerSecond === undefined))
    throw place.error(
      concurrency === undefined ? 'requests' : 'ratePerSecond',
      `Expected ${place.owner} to have either concurrency or ratePerSecond but received ${concurrency === undefined ? 'neither' : 'both'}: concurrency sends the next request after an answer, ratePerSecond at random times that no answer delays.`,
    );
  if (ratePerSecond !== undefined) return { loop: 'open', ratePerSecond, seed: seed ?? LOAD_DEFAULTS.seed };
  if (seed !== undefined)
    throw place.error('seed', `Expected ${place.named('seed')} together with ratePerSecond: nothing else is random.`);
  return { loop: 'closed', concurrency: concurrency as number };
}

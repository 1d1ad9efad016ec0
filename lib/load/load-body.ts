/** The bodies of a load's requests: a prompt for an OpenAI-compatible server, or text of the user's. */
import type { Place } from '../config/setting-place.js';
import { isMap, type RawValue } from '../config/raw.js';
import { LOAD_DEFAULTS, type LoadApi } from './load-plan.js';
import type { OpenAiApi } from './answer/openai-api.js';

/** The settings of a body. */
interface GivenBody {
  api: LoadApi;
  body?: string | undefined;
  model?: string | undefined;
  prompt?: string | undefined;
  maxTokens?: number | undefined;
}

/** Stands for the number of the request, so that a server cannot answer all from its cache of prefixes. */
const NUMBER = '{request}';

/** The body of the requests; null: none. Throws SettingError. */
export function bodyOf(given: GivenBody, place: Place): string | null {
  const { api, body } = given;
  const ofPrompt = (['model', 'prompt', 'maxTokens'] as const).find((key) => given[key] !== undefined);
  if (api === 'http') {
    if (ofPrompt !== undefined)
      throw place.error(ofPrompt, `Expected ${place.named(ofPrompt)} together with api: chat or api: completions.`);
    return body ?? null;
  }
  if (body === undefined) return promptBody(given, api, place);
  if (ofPrompt === undefined) return givenBody(body, place);
  throw place.error(
    ofPrompt,
    `Expected ${place.named(ofPrompt)} or body but received both: body is the whole request.`,
  );
}

export const numbered = (body: string, request: number): string => body.replaceAll(NUMBER, String(request));

function promptBody({ prompt, model, maxTokens }: GivenBody, api: OpenAiApi, place: Place): string {
  if (prompt === undefined) throw place.error('prompt', `Expected ${place.owner} to have prompt.`);
  if (model === undefined) throw place.error('model', `Expected ${place.owner} to have model.`);
  const tokens = maxTokens ?? LOAD_DEFAULTS.maxTokens;
  const asked = api === 'chat' ? { messages: [{ role: 'user', content: prompt }] } : { prompt };
  return streamed({ model, ...asked, max_tokens: tokens });
}

function givenBody(text: string, place: Place): string {
  const wrong = (hint: string) => place.expected('body', 'the JSON object of a request', hint);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw wrong(`it is no JSON (${(error as Error).message}).`);
  }
  if (!isMap(body as RawValue | null)) throw wrong('it is no object.');
  const { stream, n } = body as { stream?: unknown; n?: unknown };
  if (stream !== undefined && stream !== true) throw wrong('stream is not true; leave it out, it is set.');
  if (n !== undefined && n !== 1) throw wrong('n is not 1: the tokens of several answers would be mixed.');
  return streamed(body as object);
}

/**
 * Adds to a body that tokens are streamed and usage is sent, because a chunk may hold several tokens. The body's own
 * `stream_options` take precedence.
 */
const streamed = (body: object): string =>
  JSON.stringify({ stream_options: { include_usage: true }, ...body, stream: true });

/** The bodies of a load's requests: a prompt for an OpenAI-compatible server, or text of the user's. */
import { isMap, type RawValue, type Values } from '../config/values.js';
import { LOAD_DEFAULTS, type LoadApi } from './load-plan.js';
import type { OpenAiApi } from './openai.js';

export const BODY_KEYS = ['body', 'model', 'prompt', 'maxTokens'] as const;

/** Stands for the number of the request, so that a server cannot answer all from its cache of prefixes. */
const NUMBER = '{request}';
const MOST_TOKENS = 1_000_000;

/** Null: none. Throws SettingError. */
export function bodyOf(values: Values, api: LoadApi): string | null {
  const ofPrompt = ['model', 'prompt', 'maxTokens'].find((key) => values.has(key));
  if (api === 'http') {
    if (ofPrompt !== undefined)
      throw values.error(ofPrompt, `Expected ${values.named(ofPrompt)} together with api: chat or api: completions.`);
    return values.text('body') ?? null;
  }
  if (!values.has('body')) return promptBody(values, api);
  if (ofPrompt === undefined) return givenBody(values);
  throw values.error(
    ofPrompt,
    `Expected ${values.named(ofPrompt)} or body but received both: body is the whole request.`,
  );
}

export const numbered = (body: string, request: number): string => body.replaceAll(NUMBER, String(request));

function promptBody(values: Values, api: OpenAiApi): string {
  const prompt = values.required('prompt');
  const model = values.required('model');
  const tokens = values.integer('maxTokens', 1, MOST_TOKENS) ?? LOAD_DEFAULTS.maxTokens;
  const asked = api === 'chat' ? { messages: [{ role: 'user', content: prompt }] } : { prompt };
  return streamed({ model, ...asked, max_tokens: tokens });
}

function givenBody(values: Values): string {
  const text = values.required('body');
  const wrong = (hint: string) => values.expected('body', 'the JSON object of a request', hint);
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

/** Usage is asked for, as a chunk may hold several tokens; a body that says something else about it wins. */
const streamed = (body: object): string =>
  JSON.stringify({ stream_options: { include_usage: true }, ...body, stream: true });

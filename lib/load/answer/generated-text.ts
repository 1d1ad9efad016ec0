/** The generated text of a chunk, and what else its choice holds that may be text. */
import { type Fields, fieldOf, fieldsOf, isFields, isSaid, isText } from '../../results/fields.js';
import type { OpenAiApi } from './openai-api.js';
import type { UnknownParts } from './unknown.js';

/** Text of an answer, and of a reasoning model (`reasoning_content` of vLLM and SGLang, `reasoning` of newer ones). */
const TEXTS = ['content', 'reasoning_content', 'reasoning', 'refusal'];
/** What a delta holds besides generated text. */
const OTHERS = ['role', 'name', 'tool_calls', 'function_call'];
/** Fields in which answers that are no stream, or those of the other API, have their text. */
const ELSEWHERE: Readonly<Record<OpenAiApi, readonly string[]>> = {
  chat: ['text', 'message'],
  completions: ['delta', 'message'],
};

/** Returns the generated text of a choice. Fields that may hold more text are noted in `unknown`. */
export function generatedText(choice: Fields, api: OpenAiApi, unknown: UnknownParts): string {
  for (const name of ELSEWHERE[api]) noteSaid(`choices.${name}`, fieldOf(choice, name), unknown);
  if (api === 'completions') return textOf('choices.text', fieldOf(choice, 'text'), unknown);
  const delta = fieldOf(choice, 'delta');
  if (!isFields(delta)) {
    noteSaid('choices.delta', delta, unknown);
    return '';
  }
  for (const name of Object.keys(delta))
    if (!TEXTS.includes(name) && !OTHERS.includes(name)) noteSaid(`delta.${name}`, delta[name], unknown);
  return [
    ...TEXTS.map((name) => textOf(`delta.${name}`, fieldOf(delta, name), unknown)),
    calledText(delta, unknown),
  ].join('');
}

/** Joins a text, or a list of texts and of parts as Mistral sends them. */
function textOf(where: string, value: unknown, unknown: UnknownParts): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) {
    noteSaid(where, value, unknown);
    return '';
  }
  return value.map((part: unknown) => (typeof part === 'string' ? part : textOfPart(where, part, unknown))).join('');
}

function textOfPart(where: string, part: unknown, unknown: UnknownParts): string {
  const text = fieldOf(fieldsOf(part), 'text');
  if (typeof text === 'string') return text;
  noteSaid(`${where}[]`, part, unknown);
  return '';
}

/** The names and arguments of called tools. */
function calledText(delta: Fields, unknown: UnknownParts): string {
  const calls = fieldOf(delta, 'tool_calls');
  if (!Array.isArray(calls)) noteSaid('delta.tool_calls', calls, unknown);
  const functions = Array.isArray(calls) ? calls.map((call) => fieldOf(fieldsOf(call), 'function')) : [];
  return [...functions, fieldOf(delta, 'function_call')]
    .flatMap((called) => ['name', 'arguments'].map((name) => fieldOf(fieldsOf(called), name)))
    .filter(isText)
    .join('');
}

function noteSaid(what: string, value: unknown, unknown: UnknownParts): void {
  if (isSaid(value)) unknown.note(what, exampleOf(value));
}

/** Shows the top level of a value, which may be nested more deeply than can be written. */
function exampleOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const shown = Object.entries(value).map(([key, inner]) =>
    typeof inner === 'object' && inner !== null ? `${key}: …` : `${key}: ${String(inner)}`,
  );
  return shown.join(', ');
}

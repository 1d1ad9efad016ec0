/** Errors that servers send with a status of success: in a stream, or as the whole body. */
import { type Fields, fieldOf, fieldsOf, isFields, isSaid, isText, jsonIn } from '../../results/fields.js';
import { RequestFailure } from '../request-failure.js';
import { short } from './unknown.js';

const SHOWN = 300;

/**
 * Names of fields that hold an error: `error` of OpenAI, vLLM, SGLang, TGI (with `error_type`), Ollama, Triton and
 * llama.cpp; `error_code` of FastChat and LMDeploy. An empty object in them is an error as well.
 */
const NAMES = ['error', 'errors', 'error_code', 'error_message', 'error_type', 'exception'];
/**
 * Names of fields that may say `error`: `object` of older vLLM and SGLang; `type` of Anthropic and of OpenAI's
 * responses.
 */
const KINDS = ['object', 'type', 'status'];
const SAYS_ERROR = /(?:^|[._-])(?:error|failed|exception)$/i;

/** Whether a JSON value is an error object of any server, or of one of its choices. */
export function isError(value: unknown): boolean {
  if (!isFields(value)) return false;
  const choices = fieldOf(value, 'choices');
  if ([value, ...(Array.isArray(choices) ? choices.map(fieldsOf) : [])].some(names)) return true;
  if (Array.isArray(choices)) return false;
  return KINDS.some((kind) => saysError(fieldOf(value, kind))) || hasStatus(value);
}

const names = (fields: Fields): boolean =>
  NAMES.some((name) => isSaid(fieldOf(fields, name))) || isFields(fieldOf(fields, 'error'));

const saysError = (kind: unknown): boolean => isText(kind) && SAYS_ERROR.test(kind);

/** Whether the fields are `{"code": 503, "message": …}`, or `{"detail": …}` of FastAPI alone. */
function hasStatus(fields: Fields): boolean {
  const [code, message] = [fieldOf(fields, 'code'), fieldOf(fields, 'message')];
  const isCode = typeof code === 'number' || typeof code === 'string';
  if (isCode && Number(code) >= 400 && isText(message)) return true;
  return isSaid(fieldOf(fields, 'detail')) && Object.keys(fields).length === 1;
}

/** Whether an event of this name reports an error. */
export const isErrorEvent = (type: string): boolean => /error|fail|abort|exception/i.test(type);

export const errorInStream = (text: string): RequestFailure =>
  new RequestFailure('error in the stream', `the server sent an error: ${short(text, SHOWN) || 'without a text'}`);

/** Whether a line outside of any event is an error: JSON, or a field `error` as older llama.cpp sends it. */
export const isErrorLine = (line: string): boolean =>
  /^error\s*:/.test(line) || (line.startsWith('{') && isError(jsonIn(line)));

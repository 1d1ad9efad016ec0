/** How the server says that an answer ended: the end of the transport is not the success of the work. */
import { type Fields, fieldOf, isText } from '../../results/fields.js';
import { endedEarly, RequestFailure } from '../request-failure.js';
import { short, type UnknownParts } from './unknown.js';

/**
 * Reasons of an answer that was finished. Any other one is an error: `abort` and `error` of vLLM and SGLang, `timeout`
 * and `cancelled` of TensorRT-LLM, `content_filter`, and all that are not known here.
 */
const FINISHED = new Set([
  'stop',
  'length',
  'tool_calls',
  'function_call',
  // Of TGI, and of gateways to Anthropic.
  'eos_token',
  'stop_sequence',
  'end_turn',
  'max_tokens',
  'tool_use',
]);

/** Whether an answer ended because it has as many tokens as it may have. */
export const isOfLength = (reason: string | null): boolean => reason === 'length' || reason === 'max_tokens';

const LONGEST_REASON = 40;

export class FinishReason {
  #reason: string | null = null;
  #isAnnounced = false;

  /** The reason of the end; null if the server gave none. */
  get reason(): string | null {
    return this.#reason;
  }

  /** Notes the finish_reason of a choice and returns whether it has one. The first that is no success counts. */
  note(choice: Fields, unknown: UnknownParts): boolean {
    if (!Object.hasOwn(choice, 'finish_reason')) return false;
    this.#isAnnounced = true;
    const value = choice.finish_reason;
    if (value === null || value === '') return false;
    const reason = reasonIn(value);
    if (reason === null) {
      unknown.note('finish_reason', typeof value);
      return false;
    }
    if (this.#reason !== null && this.#reason !== reason) unknown.note('a second finish_reason', reason);
    if (this.#reason === null || FINISHED.has(this.#reason)) this.#reason = reason;
    return true;
  }

  /** Checks, at the end of the stream, that the answer was finished. Throws RequestFailure where it was not. */
  check(after: string): void {
    const reason = this.#reason;
    if (reason === null && this.#isAnnounced) throw endedEarly(`with [DONE] ${after}`, 'but without a finish_reason');
    if (reason === null || FINISHED.has(reason)) return;
    throw new RequestFailure(
      `ended by ${reason}`,
      `the answer ended ${after} by finish_reason '${reason}', which is no end of finished work`,
    );
  }
}

/** Reads a reason from a text, or from the object with a type that SGLang's own API sends. */
function reasonIn(value: unknown): string | null {
  const reason = typeof value === 'object' && value !== null ? fieldOf(value as Fields, 'type') : value;
  return isText(reason) ? short(reason, LONGEST_REASON) : null;
}

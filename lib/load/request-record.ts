import type { TokenStream } from './answer/openai.js';
import type { RequestFailure } from './request-failure.js';
import type { UnknownPart } from './answer/unknown.js';

/** One request and its outcome. Times are of `nowMs`. */
export interface RequestRecord {
  /** When the request was to be sent. */
  scheduledMs: number;
  sentMs: number;
  /** When its answer ended or failed. */
  endMs: number;
  failure: RequestFailure | null;
  /** The tokens of its answer; null for a failure, and for an endpoint that streams none. */
  tokens: TokenStream | null;
  /** Why the server says that the answer ended, also of failures; null where it does not say. */
  finishReason: string | null;
  /** What of the answer was not understood. */
  unknown: UnknownPart[];
}

import type { TokenStream } from './answer/openai.js';
import type { RequestFailure } from './request-failure.js';
import type { Unknown } from './answer/unknown.js';

/** One request and what became of it. Times are of `nowMs`. */
export interface RequestRecord {
  /** When it was to be sent. */
  scheduledMs: number;
  sentMs: number;
  /** When its answer ended, or failed. */
  endMs: number;
  failure: RequestFailure | null;
  /** Null for a failure, and for an endpoint that streams no tokens. */
  tokens: TokenStream | null;
  /** Why the server says that the answer ended, of failures too; null where it does not. */
  finishReason: string | null;
  /** What of the answer was not understood. */
  unknown: Unknown[];
}

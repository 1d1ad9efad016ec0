/** What is sent, how often and when: the settings of a load once they are checked. */
import type { OpenAiApi } from './answer/openai-api.js';

export type LoadApi = 'http' | OpenAiApi;

export type Arrivals =
  /** How many requests are under way at a time: each answer is followed by the next request. */
  | { loop: 'closed'; concurrency: number }
  /** Arrivals of a Poisson process; no request waits for an answer. */
  | { loop: 'open'; ratePerSecond: number; seed: number };

export interface LoadPlan {
  api: LoadApi;
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  /** The body of each request, with `{request}` in place of the request's number; null: none. */
  body: string | null;
  /** Number of requests that count. */
  requests: number;
  /** Number of warm-up requests before them, which do not count. */
  warmup: number;
  arrivals: Arrivals;
  /** Time limit of each request. */
  timeoutMs: number;
}

export const LOAD_DEFAULTS = { warmup: 3, timeoutSeconds: 60, seed: 1, maxTokens: 128 } as const;

/** What is sent, how often and when: the settings of a load once they are checked. */
import type { OpenAiApi } from './openai.js';

export type LoadApi = 'http' | OpenAiApi;

export type Arrivals =
  /** The next request of each follows its last answer. */
  | { loop: 'closed'; concurrency: number }
  /** Poisson; no request waits for an answer. */
  | { loop: 'open'; ratePerSecond: number; seed: number };

export interface LoadPlan {
  api: LoadApi;
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  /** Null: none. Holds `{request}` where the request's number goes. */
  body: string | null;
  /** Counted ones. */
  requests: number;
  /** Before them, not counted. */
  warmup: number;
  arrivals: Arrivals;
  /** Of each request. */
  timeoutMs: number;
}

export const LOAD_DEFAULTS = { warmup: 3, timeoutSeconds: 60, seed: 1, maxTokens: 128 } as const;

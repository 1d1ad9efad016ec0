/** A load for `runLoad`: the keys of a workload's `load` in YAML. */
import { Place } from './config/place.js';
import { isMap, rawOf } from './config/raw.js';
import { readLoad } from './load/load-config.js';
import type { LoadResult } from './load/load-result.js';
import { type LoadOptions, runPlan } from './load/run-load.js';

interface CommonSettings {
  /** http or https. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Number of counted requests, from 1 to 100000. */
  requests: number;
  /** Uncounted requests before them. Default 3. */
  warmup?: number;
  /** Seconds per request, from when it is sent to the end of its answer. Default 60. */
  timeout?: number;
}

/** Either a closed loop of this many requests at a time, or an open loop of Poisson arrivals. */
type ArrivalSettings =
  | { concurrency: number; ratePerSecond?: never; seed?: never }
  /** `seed` defaults to 1. */
  | { concurrency?: never; ratePerSecond: number; seed?: number };

type Without<Key extends string> = Partial<Record<Key, never>>;

/** `{request}` in a prompt or body stands for the number of the request. */
type BodySettings =
  | (Without<'model' | 'prompt' | 'maxTokens'> & {
      api?: 'http';
      method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      body?: string;
    })
  /** The default of `maxTokens` is 128. */
  | { api: 'chat' | 'completions'; model: string; prompt: string; maxTokens?: number }
  /** The whole request as JSON; `stream` is set. */
  | { api: 'chat' | 'completions'; body: string };

export type LoadSettings = CommonSettings & ArrivalSettings & BodySettings;

/** Rejects with UsageError for wrong settings, with TypeError for what YAML could not hold either. */
export async function runLoad(settings: LoadSettings, options: LoadOptions = {}): Promise<LoadResult> {
  const raw = rawOf(settings, 'a load');
  if (raw === undefined || !isMap(raw))
    throw new TypeError(`Expected a load to be an object with url and requests but received ${typeof settings}.`);
  return runPlan(readLoad(new Place(raw, 'the load')), options);
}

/** A load for `runLoad`, as a program gives it. */
import { Place } from './config/setting-place.js';
import { checkOptions, type Known } from './errors/known-options.js';
import { isMap, rawOf } from './config/raw.js';
import { readLoad } from './load/load-config.js';
import type { LoadResult } from './load/load-result.js';
import { type LoadOptions, runPlan } from './load/run-load.js';
import type { LoadSettings } from './settings-types.js';

const known: Known<LoadOptions> = { signal: true, onRequest: true };

/** Rejects with UsageError for wrong settings, with TypeError for what YAML could not hold either. */
export async function runLoad(settings: LoadSettings, options: LoadOptions = {}): Promise<LoadResult> {
  checkOptions(options, known);
  const raw = rawOf(settings, 'a load');
  if (raw === undefined || !isMap(raw))
    throw new TypeError(`Expected a load to be an object with url and requests but received ${typeof settings}.`);
  return runPlan(readLoad(new Place(raw, 'the load')), options);
}

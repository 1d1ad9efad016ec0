/** The setting `stateFiles`: files that a layer leaves behind. */
import type { Place } from '../../config/setting-place.js';
import { checkPlaceholders, type Placeholder } from '../input/placeholders.js';
import { refusedStateFile } from '../process/state-files.js';

/** Throws SettingError for names that a system may not delete; `{runDir}` is its own folder. */
export function checkStateFiles(paths: readonly string[], place: Place, allowed: readonly Placeholder[]): void {
  checkEach(paths, 'stateFiles', place, allowed);
  for (const path of paths) {
    const why = refusedStateFile(path, '{runDir}');
    if (why !== null) throw place.expected('stateFiles', 'files this run may delete', `${path}: ${why}.`);
  }
}

/** Throws SettingError for placeholders that have no value there. */
export function checkEach(texts: readonly string[], key: string, place: Place, allowed: readonly Placeholder[]): void {
  for (const text of texts) place.within(key, () => checkPlaceholders(text, place.named(key), allowed));
}

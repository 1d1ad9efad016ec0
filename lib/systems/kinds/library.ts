/** The library that a kind of system preloads. */
import type { Place } from '../../config/setting-place.js';
import { checkLibrary, missingLibrary } from '../process/library.js';
import type { Surroundings } from './define.js';

interface Library {
  /** Absolute; null if none was named, or it may be missing and is. */
  library: string | null;
  missing?: string;
}

export function libraryOf(
  path: string | undefined,
  place: Place,
  { folder, allowMissing }: Pick<Surroundings, 'folder' | 'allowMissing'>,
): Library {
  if (path === undefined) return { library: null };
  const missing = allowMissing ? notAvailable(path, folder) : null;
  if (missing !== null) return { library: null, missing };
  return { library: place.within('library', () => checkLibrary(path, place.named('library'), folder)) };
}

/** Null if it is there. */
export function notAvailable(path: string, folder: string): string | null {
  const fault = missingLibrary(path, folder);
  return fault === null ? null : `library not available: ${path}: ${fault}`;
}

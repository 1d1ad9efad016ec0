/** The libraries that the dynamic loader was told to preload, and whether it did. */
import { readFileSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { PreloadEntry } from '../../workers/description.js';

export const PRELOAD_FILE = '/etc/ld.so.preload';

/** ld.so(8): LD_PRELOAD separates by spaces or colons, and by no other white space. */
export const parseVariable = (value: string): string[] => value.split(/[ :]+/).filter((entry) => entry !== '');

/** The file separates by white space or colons; a # starts a comment. */
export const parseFile = (text: string): string[] =>
  text.split('\n').flatMap((line) =>
    line
      .replace(/#.*/, '')
      .split(/[\s:]+/)
      .filter((entry) => entry !== ''),
  );

function readPreloadFile(path = PRELOAD_FILE): string[] {
  try {
    return parseFile(readFileSync(path, 'utf8'));
  } catch {
    // Most machines have none; if it cannot be read, the mapped objects still show its effect.
    return [];
  }
}

/** Files mapped into this process. */
export function mappedFiles(maps = readMaps()): string[] {
  const files = new Set<string>();
  for (const line of maps.split('\n')) {
    const path = /\s(\/.*)$/.exec(line)?.[1]?.replace(/ \(deleted\)$/, '');
    if (path) files.add(path);
  }
  return [...files];
}

/** The entries that this process was told to preload, each with the file mapped for it, if any. */
export function preloadEntries(environment = process.env, files = mappedFiles()): PreloadEntry[] {
  const found = (entry: string, source: PreloadEntry['source']) => ({
    entry,
    source,
    mapped: findMapped(entry, files),
  });
  return [
    ...parseVariable(environment.LD_PRELOAD ?? '').map((entry) => found(entry, 'LD_PRELOAD')),
    ...readPreloadFile().map((entry) => found(entry, PRELOAD_FILE)),
  ];
}

/**
 * The loader searches for an entry without a slash and expands `$ORIGIN` and `$LIB`; such entries are compared by name.
 */
const isSearched = (entry: string): boolean => !entry.includes('/') || entry.includes('$');

function findMapped(entry: string, files: readonly string[]): string | null {
  if (isSearched(entry)) return files.find((file) => basename(file) === basename(entry)) ?? null;
  const real = realPath(entry);
  return files.find((file) => file === entry || file === real) ?? null;
}

/** Whether a library's name in LD_PRELOAD means that file. */
export const namesFile = (library: string, file: string): boolean =>
  isSearched(library) ? basename(file) === basename(library) : sameFile(library, file);

/** The loader names an object after its first opener: libcuda.so.1 here may be libcuda.so.580.1 there. */
export const sameFile = (a: string, b: string): boolean => a === b || realPath(a) === realPath(b);

export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function readMaps(): string {
  try {
    return readFileSync('/proc/self/maps', 'utf8');
  } catch {
    return '';
  }
}

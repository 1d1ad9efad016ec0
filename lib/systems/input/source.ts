/** The settings that a system was created from, and the files that they name. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isMap, type RawMap, type RawValue } from '../../config/raw.js';
import { inPath } from './in-path.js';
import { parseVariable } from '../proof/ld-preload.js';
import { publicValue } from './spec.js';

export interface SystemSource {
  kind: string;
  settings: RawMap;
  /** The settings with what its kind adds to them (`Kind.resolved`). */
  resolved: RawMap;
  /** Base of relative paths. */
  folder: string;
}

/**
 * Entries without placeholders or loader expansions; what those become, or a search finds, is known only once a worker
 * has started.
 */
export const fixedPreloads = (value: string): string[] =>
  parseVariable(value).filter((path) => /^[^${]*\/[^${]*$/.test(path));

/**
 * Makes the paths that `fixedPreloads` finds absolute, because the loader resolves them against the current directory.
 */
export const absolutePreloads = (value: string, folder: string): string =>
  value
    .split(/([ :]+)/)
    .map((part) => (fixedPreloads(part).length === 1 ? resolve(folder, part) : part))
    .join('');

/** Files there change on every read, or are devices. */
const notKept = /^\/(proc|sys|dev)\//;

/**
 * The regular files that settings name by a path, as a whole or as part of a text (LD_PRELOAD, `--config=FILE`, a
 * script). Relative paths are resolved in the system's folder and in the current one, where commands of a prefix run;
 * the first word of a list, which may be a program, in PATH.
 */
export function namedFiles({ resolved, folder }: Pick<SystemSource, 'resolved' | 'folder'>): string[] {
  // Secrets are not recorded, nor are the files they name.
  const recorded = publicSettings({ settings: resolved, folder });
  const paths = textsOf(recorded)
    .flatMap(pathsIn)
    .flatMap((path) => [resolve(folder, path), resolve(path)]);
  const programs = firstWords(recorded).flatMap((name) => inPath(name, searchPath(resolved)) ?? []);
  return [...new Set([...paths, ...programs])].filter(isKeptFile).sort();
}

/** Programs are searched as when they are started: in the system's own PATH, if it has one. */
function searchPath({ env }: RawMap): string {
  const own = env !== undefined && isMap(env) ? env.PATH : undefined;
  return typeof own === 'string' ? own : (process.env.PATH ?? '');
}

const textsOf = (value: RawValue): string[] =>
  typeof value === 'string' ? [value] : Object.values<RawValue>(value).flatMap(textsOf);

function firstWords(value: RawValue): string[] {
  if (typeof value === 'string') return [];
  const [first] = Array.isArray(value) ? value : [];
  const words = typeof first === 'string' && !/[/\0]/.test(first) && first !== '' ? [first] : [];
  return [...words, ...Object.values<RawValue>(value).flatMap(firstWords)];
}

const pathsIn = (text: string): string[] =>
  [text, ...text.split(/[\s:;,="'`()<>|&]+/)].filter((part) => part.includes('/') && !part.includes('\0'));

function isKeptFile(path: string): boolean {
  if (notKept.test(path)) return false;
  try {
    return statSync(path).isFile();
  } catch {
    // Mostly text that only looks like a path.
    return false;
  }
}

/** The settings for a shared file, without secrets and with the library's absolute path. */
export function publicSettings({ settings, folder }: Pick<SystemSource, 'settings' | 'folder'>): RawMap {
  const { library } = settings;
  const found = typeof library === 'string' ? { ...settings, library: resolve(folder, library) } : settings;
  return publicMap(found);
}

/** Like `publicSettings`, but independent of the folder in which they are read. */
export const resolvedSettings = ({ resolved, folder }: SystemSource): RawMap =>
  publicSettings({ settings: resolved, folder });

const publicMap = (map: RawMap): RawMap =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, publicOf(key, value)]));

function publicOf(key: string, value: RawValue): RawValue {
  if (typeof value === 'string') return publicValue(key, value);
  return isMap(value) ? publicMap(value) : value.map((inner) => publicOf(key, inner));
}

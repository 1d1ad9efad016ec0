/** The settings that a system was made from, and the files that its processes load because of them. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isMap, type RawMap, type RawValue } from '../config/values.js';
import { HAMI_LIBRARY } from './hami-core.js';
import { parseVariable } from './ld-preload.js';
import { publicValue } from './spec.js';

export interface SystemSource {
  kind: string;
  settings: RawMap;
  /** What relative paths are relative to. */
  folder: string;
}

/** What a placeholder or the loader expands, or a search finds, is known only when a worker has started. */
export const fixedPreloads = (value: string): string[] =>
  parseVariable(value).filter((path) => /^[^${]*\/[^${]*$/.test(path));

export function loadedFiles({ kind, settings, folder }: SystemSource): string[] {
  const { library, env } = settings;
  const preload = env !== undefined && isMap(env) ? env.LD_PRELOAD : undefined;
  const standard = kind === 'hami-core' && library === undefined && existsSync(HAMI_LIBRARY) ? [HAMI_LIBRARY] : [];
  return [
    ...standard,
    ...(typeof library === 'string' ? [resolve(folder, library)] : []),
    ...(typeof preload === 'string' ? fixedPreloads(preload).map((path) => resolve(folder, path)) : []),
  ];
}

/** For a file that is shared: without secrets, and with the library where it is from everywhere. */
export function publicSettings({ settings, folder }: SystemSource): RawMap {
  const { library } = settings;
  const found = typeof library === 'string' ? { ...settings, library: resolve(folder, library) } : settings;
  return publicMap(found);
}

const publicMap = (map: RawMap): RawMap =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, publicOf(key, value)]));

function publicOf(key: string, value: RawValue): RawValue {
  if (typeof value === 'string') return publicValue(key, value);
  return isMap(value) ? publicMap(value) : value.map((inner) => publicOf(key, inner));
}

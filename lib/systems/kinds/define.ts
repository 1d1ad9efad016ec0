/** A kind of system: its settings, and how one is created from them. */
import type * as v from 'valibot';
import type { Place } from '../../config/setting-place.js';
import type { RawMap } from '../../config/raw.js';
import type { Settings } from '../../config/read.js';
import type { System } from '../system.js';

export interface Surroundings {
  /** The caller's environment before the CLI removed LD_PRELOAD from it. */
  caller: NodeJS.ProcessEnv;
  /** Base of relative library paths. */
  folder: string;
  /** A missing library makes its system unavailable instead of causing an error. Default false. */
  allowMissing?: boolean;
  /** Kinds of the systems around this one, the innermost last. Default: none. */
  around?: readonly string[];
}

export interface Given<Schema extends Settings> {
  settings: v.InferOutput<Schema>;
  /** Where they are written. */
  place: Place;
  name: string;
  surroundings: Surroundings;
  /** Checks what `layer` gives of a system inside this one. */
  inside: (layer: RawMap) => Inner;
}

/** A system inside another one. */
export interface Inner {
  /** Its own, without kind. */
  settings: RawMap;
  create: (name: string) => System;
}

export interface Kind<Schema extends Settings = Settings> {
  /** The first line of its help. */
  about: string;
  settings: Schema;
  create: (given: Given<Schema>) => System;
  /** Whether a system of this kind can be in one of another kind, by its name, or the reason why not. */
  inside?: Readonly<Partial<Record<string, true | string | ((settings: RawMap) => string | null)>>>;
  /** Adds the files that it finds by itself to the settings, and makes paths absolute that only it knows to be paths. */
  resolved?: (settings: RawMap, folder: string) => RawMap;
}

export const kindOf = <Schema extends Settings>(kind: Kind<Schema>): Kind => kind as unknown as Kind;

/** A system inside another one: each kind says in which others it can be, and why not. */
import { isAbsolute } from 'node:path';
import type { Place } from '../config/setting-place.js';
import { isMap, type RawMap } from '../config/raw.js';
import { quoted } from '../errors/usage-error.js';
import type { Inner, Kind } from './kinds/define.js';
import { parseVariable } from './proof/ld-preload.js';
import type { System } from './system.js';

interface Around {
  /** Kinds of all systems around it, the innermost last. */
  around: readonly string[];
  place: Place;
  kinds: Readonly<Record<string, Kind>>;
  create: (kind: string, settings: RawMap) => System;
}

const NOTHING_KNOWN = 'nothing is known of that combination';

type Answer = NonNullable<NonNullable<Kind['inside']>[string]>;

/** Checks the setting `layer` of a system. What is inside has to fit into every system around it. */
export function innerLayer(given: RawMap, { around, place, kinds, create }: Around): Inner {
  const { kind = 'native', ...settings } = unfolded(given);
  const answers = (name: string) =>
    around.map((outer): Answer => (Object.hasOwn(kinds, name) && kinds[name]?.inside?.[outer]) || NOTHING_KNOWN);
  const why = typeof kind === 'string' ? whyNot(answers(kind), settings) : NOTHING_KNOWN;
  if (typeof kind !== 'string' || why !== null) {
    const fitting = Object.keys(kinds).filter((name) => answers(name).every((answer) => typeof answer !== 'string'));
    throw place.expected('layer', `a system of kind ${fitting.join(', ')}`, `${why}.`);
  }
  if (Object.hasOwn(settings, 'name'))
    throw place.error('layer', `Expected name of ${around.at(-1)}, not of its layer.`);
  const relative = pathsOf(settings).find((path) => !isAbsolute(path));
  if (relative !== undefined)
    throw place.expected(
      'layer',
      'given with absolute paths (LD_PRELOAD separates them at spaces and colons)',
      `${quoted(relative)} is relative.`,
    );
  return { settings, create: (name) => place.within('layer', () => create(kind, { ...settings, name })) };
}

/** Why a system does not fit; null: it does. */
function whyNot(answers: readonly Answer[], settings: RawMap): string | null {
  for (const answer of answers) {
    const why = typeof answer === 'function' ? answer(settings) : answer;
    if (typeof why === 'string') return why;
  }
  return null;
}

function pathsOf({ library, env }: RawMap): string[] {
  const preload = env !== undefined && isMap(env) ? env.LD_PRELOAD : undefined;
  const preloads = typeof preload === 'string' ? parseVariable(preload).filter((path) => path.includes('/')) : [];
  return [...(typeof library === 'string' ? [library] : []), ...preloads];
}

/** The command line writes entries of maps `layer.env.NAME=value`. */
function unfolded(settings: RawMap): RawMap {
  const result: RawMap = Object.create(null) as RawMap;
  for (const [name, value] of Object.entries(settings)) {
    const dot = name.indexOf('.');
    const [outer, inner] = dot < 0 ? [name, null] : [name.slice(0, dot), name.slice(dot + 1)];
    const entries = result[outer];
    if (inner === null) result[outer] = value;
    else result[outer] = { ...(entries !== undefined && isMap(entries) && entries), [inner]: value };
  }
  return result;
}

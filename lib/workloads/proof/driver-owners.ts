/**
 * Who owned the driver's functions in a process of a program, as the witness saw it there at its exit: whether the layer
 * intercepts what the program calls, beside being mapped.
 */
import { type Interceptor, applicationPaths } from '../../systems/proof/interception.js';
import type { ApplicationPath } from '../../results/document.js';

interface Owned {
  owner: string;
  functions: string[];
}

export interface DriverOwners {
  /** How many functions were found on each path; 0 for a path that could not be looked at. */
  looked: Record<ApplicationPath, number>;
  /** Functions that are not the driver's own, grouped by the file of their address. */
  owned: Record<ApplicationPath, Owned[]>;
  /** Functions of the driver whose code jumps out of it. */
  patched: Owned[];
}

/** The call that every program makes, and that layers of every make intercept. */
const LAUNCH = 'cuLaunchKernel';

/** Parses the lines that native/witness/owners.h describes; null where the witness did not look. */
export function readOwners(lines: readonly string[]): DriverOwners | null {
  const seen: DriverOwners = {
    looked: { runtime: 0, dlsym: 0, linked: 0 },
    owned: { runtime: [], dlsym: [], linked: [] },
    patched: [],
  };
  for (const line of lines) {
    const { kind, path, rest = '' } = LINE.exec(line)?.groups ?? {};
    if (kind === 'patched') seen.patched.push(ownedOf(rest));
    if (path === undefined) continue;
    if (kind === 'looked') seen.looked[path as ApplicationPath] = Number(rest);
    if (kind === 'owned') seen.owned[path as ApplicationPath].push(ownedOf(rest));
  }
  return applicationPaths.some((path) => seen.looked[path] > 0) ? seen : null;
}

const LINE = /^>(?<kind>looked|owned|patched) (?:(?<path>runtime|dlsym|linked) )?(?<rest>.*)$/;

function ownedOf(text: string): Owned {
  const end = text.lastIndexOf('"');
  return { owner: text.slice(1, end), functions: text.slice(end + 2).split(' ') };
}

/**
 * Names the first function that is not the driver's own, which a native program must not have; null if there is none.
 */
export function interceptedIn(seen: DriverOwners): string | null {
  for (const path of applicationPaths)
    for (const { owner, functions } of seen.owned[path])
      return `${functions.includes(LAUNCH) ? LAUNCH : functions[0]} on the path ${path} is in ${owner}, not in the driver`;
  const [first] = seen.patched;
  return first ? `the code of ${first.functions[0]} jumps to ${first.owner}` : null;
}

/**
 * Why the layer does not intercept in a program as it does in a worker, on the same paths: the launch if it owns that,
 * else any function. Null if it does.
 */
export function escapeIn(seen: DriverOwners, { byPath }: Pick<Interceptor, 'byPath'>): string | null {
  const patched = seen.patched.flatMap(({ functions }) => functions);
  for (const path of applicationPaths) {
    const expected = byPath[path];
    if (expected.length === 0 || seen.looked[path] === 0) continue;
    const own = new Set([...seen.owned[path].flatMap(({ functions }) => functions), ...patched]);
    const wanted = expected.includes(LAUNCH) ? [LAUNCH] : expected;
    if (wanted.some((name) => own.has(name))) continue;
    return `${wanted[0]} on the path ${path} is the driver's own, which the layer owns in a worker`;
  }
  return null;
}

/** Whether there is a path on which both the program and the worker were looked at. */
export const isComparable = (seen: DriverOwners, { byPath }: Pick<Interceptor, 'byPath'>): boolean =>
  applicationPaths.some((path) => byPath[path].length > 0 && seen.looked[path] > 0);

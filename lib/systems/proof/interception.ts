/** Which object owns the driver functions that an application would call, by symbol path. */
import type { ApplicationPath, FunctionProvenance } from '../../results/document.js';
import type { Provenance } from '../../native/addon-types.js';

export const applicationPaths = ['runtime', 'dlsym', 'linked'] as const satisfies readonly ApplicationPath[];

/** An object other than the driver that owns functions, with their names by path. */
export interface Interceptor {
  owner: string;
  functions: string[];
  byPath: Record<ApplicationPath, string[]>;
  nvml: string[];
  /** Functions whose code jumps to it; every list of `byPath` contains them. */
  patched: string[];
}

export function functionProvenance(provenance: Provenance): FunctionProvenance[] {
  return provenance.functions.map(({ name, owners, interposed, patched }) => ({
    name,
    paths: { ...owners },
    interposed: applicationPaths.filter((path) => interposed.includes(path)),
    ...(patched && { patched }),
  }));
}

/** Owner of code that a layer put into memory of its own. */
export const NO_FILE = 'memory without a file';

/**
 * The one mapped object that could have put code into memory without a file: it has functions of the driver, or answers
 * look-ups. Null if there are several or none.
 */
function onlySuspect({ objects }: Provenance): string | null {
  const [first, ...others] = objects.filter(({ exportsDlsym, cudaExports }) => exportsDlsym || cudaExports > 0);
  return first && others.length === 0 ? first.path : null;
}

/** Sorted by number of functions, highest first. */
export function interceptors(provenance: Provenance): Interceptor[] {
  const found = new Map<string, Interceptor>();
  const of = (seen: string): Interceptor => {
    const owner = seen === NO_FILE ? (onlySuspect(provenance) ?? seen) : seen;
    const known = found.get(owner) ?? {
      owner,
      functions: [],
      byPath: { runtime: [], dlsym: [], linked: [] },
      nvml: [],
      patched: [],
    };
    found.set(owner, known);
    return known;
  };
  const intercepts = (owner: string, path: ApplicationPath, name: string): void => {
    const { byPath, functions } = of(owner);
    if (byPath[path].at(-1) !== name) byPath[path].push(name);
    if (functions.at(-1) !== name) functions.push(name);
  };
  for (const { name, paths, interposed, patched } of functionProvenance(provenance)) {
    for (const path of interposed) intercepts(paths[path] as string, path, name);
    const owner = patched?.owner ?? null;
    if (owner === null) continue;
    for (const path of applicationPaths) intercepts(owner, path, name);
    of(owner).patched.push(name);
  }
  for (const { name, owners, interposed, patched } of provenance.nvml) {
    if (owners.dlsym !== null && interposed.length > 0) of(owners.dlsym).nvml.push(name);
    else if (patched?.owner != null) of(patched.owner).nvml.push(name);
  }
  return [...found.values()].sort((a, b) => b.functions.length - a.functions.length || b.nvml.length - a.nvml.length);
}

/** A sentence about who intercepts how many of the `total` driver functions. */
export const interceptionText = (found: readonly Interceptor[], total: number): string =>
  found.map((interceptor) => ownedText(interceptor, total)).join('; ');

function ownedText({ owner, functions, byPath, nvml }: Interceptor, total: number): string {
  const perPath = Object.entries(byPath).map(([path, names]) => `${path} ${names.length}`);
  const driver = `${functions.length} of ${total} functions (${perPath.join(', ')})`;
  return `${owner} owns ${driver}${nvml.length > 0 ? ` and ${nvml.length} NVML functions` : ''}`;
}

/** Which object owns the driver functions that an application would call, by symbol path. */
import type { ApplicationPath, FunctionProvenance } from '../results/document.js';
import type { Provenance } from '../native/addon-types.js';

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
  const driver = driverObject(provenance);
  return provenance.functions.map(({ name, owners, patched }) => {
    const reference = owners.bare ?? driver;
    const interposed = applicationPaths.filter((path) => owners[path] !== null && owners[path] !== reference);
    return { name, paths: { ...owners }, interposed, ...(patched && { patched }) };
  });
}

/** Sorted by number of functions, highest first. */
export function interceptors(provenance: Provenance): Interceptor[] {
  const found = new Map<string, Interceptor>();
  const of = (owner: string): Interceptor => {
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
  for (const { name, owners, patched } of provenance.nvml) {
    if (owners.dlsym !== null && owners.bare !== null && owners.dlsym !== owners.bare) of(owners.dlsym).nvml.push(name);
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

/** The object that owns most functions in the driver's own symbol table: libcuda. */
function driverObject(provenance: Provenance): string | null {
  const counts = new Map<string, number>();
  for (const { owners } of provenance.functions)
    if (owners.bare !== null) counts.set(owners.bare, (counts.get(owners.bare) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}

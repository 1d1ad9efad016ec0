/** Which object owns the driver functions an application would call, per symbol path. */
import type { ApplicationPath, FunctionProvenance } from '../document.js';
import type { Provenance } from '../native/addon-types.js';

export const applicationPaths = ['runtime', 'dlsym', 'linked'] as const satisfies readonly ApplicationPath[];

/** An object other than the driver that owns functions; names of functions per path. */
export interface Interceptor {
  owner: string;
  functions: string[];
  byPath: Record<ApplicationPath, string[]>;
  nvml: string[];
}

export function functionProvenance(provenance: Provenance): FunctionProvenance[] {
  const driver = driverObject(provenance);
  return provenance.functions.map(({ name, owners }) => {
    const reference = owners.bare ?? driver;
    const interposed = applicationPaths.filter((path) => owners[path] !== null && owners[path] !== reference);
    return { name, paths: { ...owners }, interposed };
  });
}

/** Most functions first. */
export function interceptors(provenance: Provenance): Interceptor[] {
  const found = new Map<string, Interceptor>();
  const of = (owner: string): Interceptor => {
    const known = found.get(owner) ?? {
      owner,
      functions: [],
      byPath: { runtime: [], dlsym: [], linked: [] },
      nvml: [],
    };
    found.set(owner, known);
    return known;
  };
  for (const { name, paths, interposed } of functionProvenance(provenance))
    for (const path of interposed) {
      const interceptor = of(paths[path] as string);
      interceptor.byPath[path].push(name);
      if (interceptor.functions.at(-1) !== name) interceptor.functions.push(name);
    }
  for (const { name, owners } of provenance.nvml)
    if (owners.dlsym !== null && owners.bare !== null && owners.dlsym !== owners.bare) of(owners.dlsym).nvml.push(name);
  return [...found.values()].sort((a, b) => b.functions.length - a.functions.length || b.nvml.length - a.nvml.length);
}

/** Who intercepts how much of the `total` driver functions, in words. */
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

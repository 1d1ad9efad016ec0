/** Whether a probe's process was under the system, by comparison with a proven process. */
import { sameFile } from '../../systems/proof/ld-preload.js';
import type { ApplicationPath } from '../../results/document.js';
import type { Description } from '../../workers/description.js';
import type { Observation } from './probe-process.js';

export interface Reference {
  /** The functions that are not the driver's own in the proven process, by address: code may have no file, or any name. */
  intercepted: ReadonlySet<string>;
  /** Files that were preloaded into it. */
  preloaded: readonly string[];
  mpsClient: boolean;
  /** Memory by device UUID that cuDeviceTotalMem reports in that process; a layer may lower it to its limit. */
  memoryBytes: ReadonlyMap<string, number>;
}

export function referenceOf({ provenance, preload, inspection }: Description, path: ApplicationPath): Reference {
  const named = (functions: readonly { name: string }[]) => functions.map(({ name }) => name);
  return {
    intercepted: new Set([
      ...named(provenance.functions.filter(({ interposed }) => interposed.includes(path))),
      ...named(provenance.nvml.filter(({ interposed }) => interposed.includes('dlsym'))),
    ]),
    preloaded: preload.flatMap(({ mapped }) => mapped ?? []),
    memoryBytes: new Map(
      inspection.devices.flatMap(({ uuid, visibleMemoryBytes: bytes }) => (bytes === null ? [] : [[uuid, bytes]])),
    ),
    mpsClient: inspection.devices.some(({ mpsClient }) => mpsClient === true),
  };
}

/** Evidence that it was not; null if there is none. */
export function escapeOf({ under }: Observation, reference: Reference): string | null {
  if (!under) return 'it did not report who owns the functions it called';
  const free = under.own.find((name) => reference.intercepted.has(name));
  if (free !== undefined) return `${free} belongs to ${under.owners[free] ?? 'the driver'}`;
  const missing = reference.preloaded.find((file) => !under.objects.some((object) => sameFile(object, file)));
  if (missing !== undefined) return `${missing} is not loaded`;
  const { memory } = under;
  const expected = memory ? reference.memoryBytes.get(memory.uuid) : undefined;
  if (memory && expected !== undefined && memory.bytes !== expected)
    return `it sees ${memory.bytes} bytes of memory, where ${expected} are shown`;
  return reference.mpsClient && under.mps === 0 ? 'it is no MPS client' : null;
}

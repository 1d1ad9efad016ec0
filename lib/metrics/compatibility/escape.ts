/** Whether a probe's process was under the system, by comparison with a proven process. */
import { sameFile } from '../../systems/ld-preload.js';
import type { ApplicationPath } from '../../results/document.js';
import type { Description } from '../../workers/description.js';
import type { Observation } from './probe-process.js';

export interface Reference {
  /** The owner of each function that the layer owns in the proven process. */
  owners: ReadonlyMap<string, string>;
  /** Files that were preloaded into it. */
  preloaded: readonly string[];
  mpsClient: boolean;
  /** Memory by device UUID that cuDeviceTotalMem reports in that process; a layer may lower it to its limit. */
  memoryBytes: ReadonlyMap<string, number>;
}

export function referenceOf({ provenance, preload, inspection }: Description, path: ApplicationPath): Reference {
  const owners = new Map<string, string>();
  const note = (name: string, owner: string | null, driver: string | null) => {
    if (owner !== null && driver !== null && !sameFile(owner, driver)) owners.set(name, owner);
  };
  for (const { name, owners: of } of provenance.functions) note(name, of[path], of.bare);
  for (const { name, owners: of } of provenance.nvml) note(name, of.dlsym, of.bare);
  return {
    owners,
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
  const free = Object.entries(under.owners).find(([name, owner]) => {
    const expected = reference.owners.get(name);
    return expected !== undefined && !sameFile(expected, owner);
  });
  if (free) return `${free[0]} belongs to ${free[1]}`;
  const missing = reference.preloaded.find((file) => !under.objects.some((object) => sameFile(object, file)));
  if (missing !== undefined) return `${missing} is not loaded`;
  const { memory } = under;
  const expected = memory ? reference.memoryBytes.get(memory.uuid) : undefined;
  if (memory && expected !== undefined && memory.bytes !== expected)
    return `it sees ${memory.bytes} bytes of memory, where ${expected} are shown`;
  return reference.mpsClient && under.mps === 0 ? 'it is no MPS client' : null;
}

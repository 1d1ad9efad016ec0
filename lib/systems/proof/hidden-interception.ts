/** Interception that no pointer shows: patched code in memory, and a libcuda.so.1 that is not the driver. */
import type { DriverInfo } from '../../results/document.js';
import { driverInfo } from '../../environment/gpu.js';
import type { Provenance } from '../../native/addon-types.js';
import type { Description } from '../../workers/description.js';
import type { Finding } from './proof-finding.js';
import { interceptors } from './interception.js';
import { realPath, sameFile } from './ld-preload.js';

/** A driver function whose code in memory differs from its file. */
interface PatchedFunction {
  name: string;
  /** Null if no jump to an object's code was found. */
  owner: string | null;
}

function patchedFunctions({ functions, nvml }: Provenance): PatchedFunction[] {
  return [...functions, ...nvml].flatMap(({ name, patched }) => (patched ? [{ name, owner: patched.owner }] : []));
}

/** The file name of an NVIDIA library ends in its version, unless a link hides it. */
const versionOf = (path: string): string | null => /\.so\.(\d{3}\.\d+(?:\.\d+)?)$/.exec(realPath(path))?.[1] ?? null;

/**
 * A second library under another name in this link namespace that exports cuInit: the driver itself, if `libcuda.so.1`
 * only forwards to it. A preloaded layer, or one that owns functions, also exports cuInit and is no second driver.
 */
function secondDriver({ provenance, preload }: Description): string | undefined {
  const layers = [
    ...preload.flatMap(({ mapped }) => mapped ?? []),
    ...interceptors(provenance).map(({ owner }) => owner),
    provenance.libcuda.loaded,
  ];
  const others = provenance.objects.filter(
    ({ path, exportsInit }) => exportsInit && !layers.some((layer) => sameFile(layer, path)),
  );
  return others[0]?.path;
}

export function replacedLibcuda(description: Description): NonNullable<DriverInfo['replaced']> | null {
  const { provenance, inspection } = description;
  const { loaded, driver, simulated, kernelModule, carriesKernelVersion } = provenance.libcuda;
  if (!sameFile(loaded, driver))
    return { by: loaded, driver, reason: `it is loaded in place of the driver, ${driver}` };
  const second = secondDriver(description);
  if (second !== undefined) return { by: loaded, driver: second, reason: `a second library exports cuInit: ${second}` };
  if (simulated) return null;
  if (carriesKernelVersion === false)
    return {
      by: loaded,
      driver: null,
      reason: `it has another version than the kernel module (${kernelModule})`,
    };
  const version = versionOf(loaded);
  const { driverVersion } = inspection;
  if (version !== null && driverVersion !== null && version !== driverVersion)
    return { by: loaded, driver: null, reason: `it is version ${version}, NVML says ${driverVersion}` };
  return null;
}

/** The driver for a document, as a worker saw it. */
export function seenDriver(description: Description): DriverInfo {
  const replaced = replacedLibcuda(description);
  return { ...driverInfo(description.inspection), ...(replaced && { replaced }) };
}

const TAKE_OUT = 'Remove the layer from /etc/ld.so.preload, the library path and the container.';
const OWN_LIBRARY =
  "Unset LD_LIBRARY_PATH, or name the driver's own folder first; a CUDA forward-compatibility library counts as a replacement too.";

/** The subject of a sentence about functions and owners; if there are many, their number. */
function patchedText(patched: readonly PatchedFunction[]): string {
  const byOwner = new Map<string | null, string[]>();
  for (const { name, owner } of patched) byOwner.set(owner, [...(byOwner.get(owner) ?? []), name]);
  return [...byOwner]
    .map(([owner, names]) => {
      const list = names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
      return `${list} (${owner === null ? 'no jump to a library was found' : `jumps to ${owner}`})`;
    })
    .join('; ');
}

/**
 * `library`: the layer that may patch code; null: none may. An unknown owner never counts as the layer: a breakpoint
 * and a hidden trampoline look the same.
 */
export function driverCode({ provenance }: Description, library: string | null): Finding {
  const proof = 'driver code is as in its file (first 32 bytes of each function)';
  if (provenance.codeUnreadable !== null) return { proof, passed: null, detail: provenance.codeUnreadable };
  const patched = patchedFunctions(provenance);
  const real = library === null ? null : realPath(library);
  const foreign = patched.filter(({ owner }) => real === null || owner === null || realPath(owner) !== real);
  const total = provenance.functions.length + provenance.nvml.length;
  const detail =
    patched.length === 0
      ? `all ${total} functions are unchanged`
      : `changed in memory: ${patchedText(foreign.length > 0 ? foreign : patched)}`;
  return { proof, passed: foreign.length === 0, detail, advice: TAKE_OUT };
}

export function ownLibcuda(description: Description): Finding {
  const replaced = replacedLibcuda(description);
  return {
    proof: "libcuda.so.1 is the driver's",
    passed: replaced === null,
    detail: replaced ? `${replaced.by} is not: ${replaced.reason}` : description.provenance.libcuda.loaded,
    advice: OWN_LIBRARY,
  };
}

/** Functions of libc that another library stands in front of, and that Node reads files with; null if there are none. */
export function replacedLibc({ provenance: { replaced } }: Description): string | null {
  const text = replaced.map(({ name, owner }) => `${name} (${owner ?? 'nobody'})`).join(', ');
  return replaced.length === 0 ? null : text;
}

export function libcWarnings(description: Description): string[] {
  const replaced = replacedLibc(description);
  return replaced === null ? [] : [`Files are read through functions that are not libc's: ${replaced}.`];
}

/** Hidden interception as warnings instead of failures, for `run` without a system. */
export function hiddenInterceptionWarnings(description: Description): string[] {
  const patched = patchedFunctions(description.provenance);
  const replaced = replacedLibcuda(description);
  return [
    ...(patched.length > 0 ? [`Driver code was changed in memory: ${patchedText(patched)}.`] : []),
    ...libcWarnings(description),
    ...(replaced ? [`libcuda.so.1 is not the driver's: ${replaced.by}: ${replaced.reason}.`] : []),
  ];
}

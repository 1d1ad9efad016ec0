/** Proofs shared by systems: each checks one observation of a worker, a probe or the coordinator. */
import type { Finding } from './proof-finding.js';
import type { ApplicationPath, LayerInfo } from '../../results/document.js';
import type { NativeDevice } from '../../native/addon-types.js';
import { OUT_OF_MEMORY } from '../../native/errors.js';
import type { Description } from '../../workers/description.js';
import { sha256 } from './file-hash.js';
import { driverCode, ownLibcuda, replacedLibc, replacedLibcuda } from './hidden-interception.js';
import { functionProvenance, interceptors } from './interception.js';
import { realPath, sameFile } from './ld-preload.js';
import { inWords } from '../../config/size.js';
import type { Canary, Evidence, Probe, Proof, TrueGpu } from '../system.js';

/** Advice that a user can act on. */
export const advice = {
  wrongBuild: 'Rebuild the layer with exported symbols, e.g. CMAKE_BUILD_TYPE=Debug for HAMi-core.',
  wrongLibrary: 'Give the library of this layer, built with its exported symbols.',
  notMapped: 'Give a library whose dependencies the dynamic loader finds (ldd names what is missing).',
  replaced: 'Start again: the library was replaced while it was measured.',
  staleCache: 'Remove the shared cache: another process created it, and its creator sets the limits.',
  layerPresent: 'Remove the layer from /etc/ld.so.preload, the library path and the container.',
  mps: 'Stop the MPS daemon (echo quit | nvidia-cuda-mps-control): this system must run without MPS.',
  noMps: 'Check control.log and server.log: the daemon may have refused this client, or may have crashed.',
  mig: 'Select a GPU that is not in MIG mode.',
  noDevice: 'Let the process see the GPU under its own UUID: no CUDA_VISIBLE_DEVICES, no device filter.',
  noPid:
    'Leave CUDA_VISIBLE_DEVICES unset (a UUID reads as 0), measure GPU 0, outside MPS and MIG, in the host PID namespace.',
  escapes: 'Measure a symbol path that the layer hooks (--path), or a build for this CUDA version.',
} as const;

const finding = (proof: string, passed: boolean | null, detail: string, help?: string): Finding => ({
  proof,
  passed,
  detail,
  ...(help !== undefined && { advice: help }),
});

/** The layer's file in the worker; null if it is not mapped. */
export async function layerInfo(description: Description, library: string): Promise<LayerInfo | null> {
  const isLibrary = (path: string) => sameFile(path, library);
  const object = description.provenance.objects.find(({ path }) => isLibrary(path));
  const preloaded = description.preload.some(({ mapped }) => mapped !== null && isLibrary(mapped));
  const replacement = replacedLibcuda(description)?.by;
  const active =
    (replacement !== undefined && isLibrary(replacement)) ||
    interceptors(description.provenance).some(({ owner, functions }) => functions.length > 0 && isLibrary(owner));
  if (!object && !preloaded && !active) return null;
  return { path: library, sha256: await sha256(library), exports: object?.cudaExports ?? 0, active };
}

export function libraryIdentity(layer: LayerInfo | null, library: string, expectedSha256: string | null): Finding {
  const proof = 'library identity (path, SHA-256)';
  if (!layer) return finding(proof, false, `${library} is not mapped in the worker`, advice.notMapped);
  const same = layer.sha256 !== null && layer.sha256 === expectedSha256;
  const detail = `${layer.path} is mapped, SHA-256 ${layer.sha256 ?? 'unknown'}`;
  return same
    ? finding(proof, true, detail)
    : finding(proof, false, `${detail}, at the start ${expectedSha256 ?? 'unknown'}`, advice.replaced);
}

export function exportCount(layer: LayerInfo | null, least: number, help: string = advice.wrongBuild): Finding {
  const exports = layer?.exports ?? 0;
  const detail = `${exports} exported names begin with cu, ${least} are expected`;
  return finding('exported driver functions', exports >= least, detail, help);
}

/** Exported names carry their version (cuMemAlloc_v2); the driver's own table does not. */
const baseName = (name: string): string => name.replace(/_v\d+$/, '');

export function functionOwners(
  description: Description,
  names: readonly string[],
  paths: readonly ApplicationPath[],
  library: string,
): Finding {
  const real = realPath(library);
  const seen = description.provenance.functions;
  const escaped = names.flatMap((name) =>
    paths.flatMap((path) => {
      const row = seen.find((candidate) => baseName(candidate.name) === baseName(name));
      // A patched function belongs to the object that its code jumps to, on every path.
      const owner = row?.patched?.owner ?? row?.owners[path] ?? null;
      return owner !== null && realPath(owner) === real ? [] : [`${name} on ${path} (${owner ?? 'nobody'})`];
    }),
  );
  const proof = 'owners of the driver functions';
  if (escaped.length === 0)
    return finding(proof, true, `${library} owns ${names.join(', ')} on ${paths.join(' and ')}`);
  if (escaped.length === names.length * paths.length)
    return finding(proof, false, `${library} owns none of ${names.join(', ')}`, advice.wrongBuild);
  return finding(proof, false, `not the layer's: ${escaped.join(', ')}`, advice.escapes);
}

export function nvmlOwner(description: Description, library: string): Finding {
  const real = realPath(library);
  const owned = description.provenance.nvml.filter(({ owners }) => owners.dlsym && realPath(owners.dlsym) === real);
  const detail = `${library} owns ${owned.length} of ${description.provenance.nvml.length} NVML functions`;
  return finding('owners of the NVML functions', owned.length > 0, detail, advice.wrongBuild);
}

/**
 * The driver owns all functions, and no object that could intercept is mapped. Exporting names that begin with cu is no
 * sign by itself, because helper libraries of the driver do so too; none of those exports cuInit.
 */
export function bareDriver(description: Description): Finding[] {
  const { provenance, preload } = description;
  const hooked = functionProvenance(provenance).filter(({ interposed }) => interposed.length > 0);
  const owners = [...new Set(hooked.flatMap(({ paths, interposed }) => interposed.map((path) => paths[path])))];
  const total = provenance.functions.length;
  const owned =
    hooked.length === 0
      ? `the driver owns all ${total} functions on every symbol path`
      : `${owners.join(', ')} owns ${hooked.length} of ${total} functions`;
  const preloaded = new Set(preload.map(({ mapped }) => mapped && realPath(mapped)));
  const suspects = provenance.objects.filter(
    ({ path, exportsDlsym, exportsInit }) => exportsDlsym || exportsInit || preloaded.has(realPath(path)),
  );
  const objects = suspects.map(({ path }) => path);
  const mapped = objects.length === 0 ? 'no layer is mapped' : `mapped: ${objects.join(', ')}`;
  const proof = 'owners of the driver functions';
  return [
    finding(proof, total > 0 && hooked.length === 0, owned, advice.layerPresent),
    driverCode(description, null),
    ownLibcuda(description),
    finding('no layer in the process', objects.length === 0, mapped, advice.layerPresent),
    ownLibc(description),
  ];
}

/** Proofs read files and symbols; a library that stands in front of these functions can forge what they read. */
function ownLibc(description: Description): Finding {
  const replaced = replacedLibc(description);
  const detail = replaced === null ? "libc's own" : `not libc's: ${replaced}`;
  return finding('functions with which files are read', replaced === null, detail, advice.layerPresent);
}

export type SeenDevice = NativeDevice | undefined;

export const measuredDevice = ({ inspection }: Description, gpu: TrueGpu): SeenDevice =>
  inspection.devices.find(({ uuid }) => uuid === gpu.uuid);

const MPS_PROOF = 'MPS attribute (CU_DEVICE_ATTRIBUTE_MPS_ENABLED)';

export function noMpsClient(device: NativeDevice | undefined): Finding {
  if (!device || device.mpsClient === null) return finding(MPS_PROOF, null, 'the driver does not report it');
  return finding(MPS_PROOF, !device.mpsClient, device.mpsClient ? 'it is an MPS client' : '0', advice.mps);
}

/** A client without its daemon starts anyway and is not a client. */
export function mpsClient(device: NativeDevice | undefined): Finding {
  if (!device || device.mpsClient === null) return finding(MPS_PROOF, null, 'the driver does not report it');
  return finding(MPS_PROOF, device.mpsClient, device.mpsClient ? '1' : '0: it runs without MPS', advice.noMps);
}

export function deviceSeen(device: NativeDevice | undefined, gpu: TrueGpu): Finding {
  const detail = device
    ? `the worker sees ${gpu.uuid} as device ${device.index}`
    : `the worker does not see ${gpu.uuid}`;
  return finding('the GPU that is measured', device !== undefined, detail, advice.noDevice);
}

/** NVML's total includes a part that the driver reserves. */
export const RESERVED = 0.05;

/** The tenant must be shown the limit or, without one, the card's size by the coordinator's NVML. */
export function memoryView(
  device: NativeDevice | undefined,
  probe: Probe | null,
  gpu: TrueGpu,
  limit: number | null,
): Finding {
  const proof = "memory view in the tenant against the coordinator's NVML";
  const seen = probe?.visibleTotalBytes ?? device?.visibleMemoryBytes ?? null;
  if (seen === null) return finding(proof, null, 'the worker got no total');
  const detail = `the tenant sees ${inWords(seen)}, NVML ${inWords(gpu.memoryBytes)}`;
  const whole = Math.abs(seen - gpu.memoryBytes) <= RESERVED * gpu.memoryBytes;
  if (limit === null) return finding(proof, whole, detail, advice.layerPresent);
  const asked = `${detail}, the limit is ${inWords(limit)}`;
  if (limit >= (1 - RESERVED) * gpu.memoryBytes && whole)
    return finding(proof, null, `${asked}: the limit equals the card, so this proves nothing`);
  return finding(proof, seen === limit, asked, whole ? advice.wrongBuild : advice.staleCache);
}

/** After measuring, memory that is still held explains why no more is granted: some layers keep what was freed. */
export function allocationCanary(
  probe: Probe | null,
  canaries: readonly Canary[],
  phase?: Evidence['phase'],
): Finding[] {
  return canaries.map(({ bytes, expected }) => {
    const proof = `allocation of ${inWords(bytes)} is ${expected}`;
    const tried = probe?.allocations?.find((allocation) => allocation.bytes === bytes);
    if (!tried) return finding(proof, null, 'not tried');
    if (phase === 'after' && expected === 'granted' && tried.code === OUT_OF_MEMORY)
      return finding(proof, null, 'out of memory: the process may hold what it measured with');
    const granted = tried.code === 0;
    const help = expected === 'refused' ? advice.staleCache : 'Free the GPU: other processes hold its memory.';
    return finding(proof, granted === (expected === 'granted'), `the driver returned ${tried.code}`, help);
  });
}

/** A limit as the layer itself reports it: a cache created by another process would hold other values. */
export function limitReadBack(proof: string, read: number | null | undefined, wanted: number): Finding {
  if (read === null || read === undefined) return finding(proof, null, 'the layer was not queried');
  return finding(proof, read === wanted, `the layer says ${read}, ${wanted} was set`, advice.staleCache);
}

export function isProof(found: Finding): found is Finding & { passed: boolean } {
  return found.passed !== null;
}

export const asProof = ({ proof, passed, detail, advice: help }: Finding & { passed: boolean }): Proof => ({
  proof,
  passed,
  detail: passed || help === undefined ? detail : `${detail}. ${help}`,
});

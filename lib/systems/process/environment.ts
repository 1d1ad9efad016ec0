/** The caller's environment, unchanged: `run` without a named system. */
import type { LayerInfo } from '../../results/document.js';
import type { Provenance } from '../../native/addon-types.js';
import { nameCommandCard } from '../../native/command-card.js';
import type { Description, PreloadEntry } from '../../workers/description.js';
import { local } from '../../workers/local.js';
import { instanceVariables } from '../../environment/named-gpu.js';
import { asProof, isProof } from '../proof/attestation.js';
import { sha256 } from '../proof/file-hash.js';
import { driverCode, hiddenInterceptionWarnings, ownLibcuda } from '../proof/hidden-interception.js';
import { interceptionText, type Interceptor, interceptors } from '../proof/interception.js';
import { PRELOAD_FILE, realPath } from '../proof/ld-preload.js';
import { type Attestation, type Capabilities, NO_LIMITS, type Proof, type System } from '../system.js';

/** Where the CLI stores the caller's LD_PRELOAD and LD_AUDIT while it runs without them (cli/process/restart.ts). */
const CALLER = 'GVB_CALLER_';

/** Recorded because they affect the measurement. No other variable of the caller enters a document. */
const recorded =
  /^(LD_PRELOAD|LD_AUDIT|LD_LIBRARY_PATH|CUDA_\w+|NVIDIA_VISIBLE_DEVICES|GPU_CORE_UTILIZATION_POLICY|ACTIVE_OOM_KILLER|RECORD_KERNEL_INTERVAL|LIBCUDA_LOG_LEVEL|MANAGER_\w+|VGPU_\w+|LOGGER_LEVEL|BUD_\w+|GVB_SIM|GVB_INTERPOSE)$/;

/** The environment before the CLI removed LD_PRELOAD and LD_AUDIT from it. */
export function callerEnvironment(environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  if (environment === process.env) nameCommandCard();
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name.startsWith(CALLER) ? name.slice(CALLER.length) : name,
      value,
    ]),
  );
}

export function environmentSystem(environment = callerEnvironment()): System {
  const settings: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment).sort())
    if (value !== undefined && recorded.test(name)) settings[name] = value;
  return {
    name: 'environment',
    kind: 'environment',
    isCallers: true,
    settings,
    capabilities: unknownCapabilities,
    unavailable: null,
    limitsCoexist: false,
    staggerStarts: false,
    wantsProbe: false,
    environment: () => environment,
    argvPrefix: () => [],
    launcher: local,
    limits: () => ({ memoryBytes: null, smPercent: null }),
    canaries: () => [],
    attest,
    prepare: nothing,
    prepareTenant: nothing,
    betweenLimits: nothing,
    reap: nothing,
    teardown: nothing,
  };
}

/** The caller's environment, in which a MIG instance that is named as the device shows. */
export const callersSystem = (device: string | undefined): System =>
  environmentSystem({ ...callerEnvironment(), ...instanceVariables(device ?? '') });

/** Its state belongs to the user who set it up. */
const nothing = () => Promise.resolve();

/** Any limits were set elsewhere, so no metric may check them. */
const unknownCapabilities: Capabilities = NO_LIMITS;

type MappedObject = Provenance['objects'][number];

async function attest(description: Description): Promise<Attestation> {
  const { provenance, preload } = description;
  const found = interceptors(provenance);
  const [active] = found;
  const idle = active ? undefined : preloadedObjects(provenance, preload)[0];
  const path = active?.owner ?? idle?.path;
  const layer = path === undefined ? null : await describeLayer(path, provenance, active !== undefined);
  return {
    layer,
    proofs: [
      ownershipProof(provenance, found, layer),
      ...[driverCode(description, null), ownLibcuda(description)].filter(isProof).map(asProof),
      ...preload.map(preloadProof),
    ],
    groundTruth: groundTruth(description),
    warnings: [...hiddenInterceptionWarnings(description), ...warnings(layer, preload)],
  };
}

/** Preloaded files that look like a GPU layer: they export `dlsym` or driver functions. */
function preloadedObjects(provenance: Provenance, preload: readonly PreloadEntry[]): MappedObject[] {
  const mapped = preload.flatMap((entry) => (entry.mapped === null ? [] : [realPath(entry.mapped)]));
  return provenance.objects.filter(({ path }) => mapped.includes(realPath(path)));
}

async function describeLayer(path: string, provenance: Provenance, active: boolean): Promise<LayerInfo> {
  const object = provenance.objects.find((candidate) => realPath(candidate.path) === realPath(path));
  return { path, sha256: await sha256(path), exports: object?.cudaExports ?? 0, active };
}

export const groundTruth = ({ provenance, preload }: Description): Attestation['groundTruth'] =>
  preloadFileHooks(provenance, preload, interceptors(provenance)) ? 'none' : 'nvml';

/** Every process is then hooked, the coordinator included, so no process sees the bare GPU. */
function preloadFileHooks(provenance: Provenance, preload: readonly PreloadEntry[], found: readonly Interceptor[]) {
  const everywhere = preload.filter(({ source }) => source === PRELOAD_FILE);
  if (preloadedObjects(provenance, everywhere).length > 0) return true;
  const owners = found.map(({ owner }) => realPath(owner));
  return everywhere.some(({ mapped }) => mapped !== null && owners.includes(realPath(mapped)));
}

function ownershipProof(provenance: Provenance, found: readonly Interceptor[], layer: LayerInfo | null): Proof {
  const proof = 'owners of the driver functions';
  const total = provenance.functions.length;
  if (found.length === 0)
    return { proof, passed: layer === null, detail: `the driver owns all ${total} functions on every symbol path` };
  return { proof, passed: true, detail: interceptionText(found, total) };
}

function preloadProof({ entry, source, mapped }: PreloadEntry): Proof {
  return {
    proof: `${source} entry is mapped`,
    passed: mapped !== null,
    detail: mapped === null ? `${entry} is not mapped` : `${entry} is mapped from ${mapped}`,
  };
}

function warnings(layer: LayerInfo | null, preload: readonly PreloadEntry[]): string[] {
  const missing = preload
    .filter(({ mapped }) => mapped === null)
    .map(
      ({ entry, source }) =>
        `${source} names ${entry}, which the dynamic loader did not load: correct the path, or this run measures without it.`,
    );
  if (!layer || layer.active) return missing;
  const idle = `${layer.path} is loaded but hooks no function of the driver or NVML, so this run measures the bare driver: rebuild it with exported symbols, e.g. CMAKE_BUILD_TYPE=Debug for HAMi-core.`;
  return [idle, ...missing];
}

/** What `doctor` looks at: the driver, the GPUs and the layers, from a worker in the caller's environment. */
import type { DriverInfo, GpuInfo, HostInfo, LayerInfo } from '../document.js';
import { gpuInfo } from '../environment/gpu.js';
import { hostInfo } from '../environment/host.js';
import { type MpsState, mpsState } from '../environment/mps.js';
import { nvidiaOnPciBus } from '../environment/pci.js';
import { toolVersion } from '../environment/tool.js';
import { messageOf } from '../errors/message-of.js';
import type { NativeAddon, Target } from '../native/addon-types.js';
import { seenDriver } from '../systems/hidden-interception.js';
import { type Interceptor, interceptors } from '../systems/interception.js';
import { parseVariable } from '../systems/ld-preload.js';
import type { System } from '../systems/system.js';
import { type Description, describe, type PreloadEntry } from '../workers/description.js';
import { Worker } from '../workers/worker.js';
import { type Facts, type Finding, findings } from './findings.js';
import { dlopenReason } from './target.js';

export interface Diagnosis {
  schemaVersion: 1;
  kind: 'doctor';
  tool: { name: 'gpu-virt-bench'; version: string };
  /** Whether `run` would measure a real GPU. */
  ready: boolean;
  host: HostInfo;
  driver: DriverInfo | null;
  gpu: GpuInfo[];
  mps: MpsState;
  preload: PreloadEntry[];
  /** Why no process of this environment could say what it sees; the driver is then as one without LD_PRELOAD sees it. */
  workerError: string | null;
  layer: LayerInfo | null;
  /** How many driver functions were looked up on each symbol path. */
  functions: number;
  interceptors: Interceptor[];
  findings: Finding[];
}

export interface DiagnosisRequest {
  system: System;
  /** Throws where the addon cannot be loaded. */
  loadAddon: () => NativeAddon;
  simulatedFolder: () => string | null;
  /** Most time for each step of a process that looks. Default: each step's own. */
  timeoutMs?: number | undefined;
}

export async function diagnose(request: DiagnosisRequest): Promise<Diagnosis> {
  const host = hostInfo();
  const mps = mpsState(request.system.environment());
  const { description, attestation, ...seen } = await look(request);
  const found = description && attestation ? interceptors(description.provenance) : [];
  const facts: Facts = {
    ...seen,
    host,
    mps,
    pciGpu: nvidiaOnPciBus(),
    description,
    attestation,
    interceptors: found,
    environment: request.system.environment(),
  };
  const list = findings(facts);
  return {
    schemaVersion: 1,
    kind: 'doctor',
    tool: { name: 'gpu-virt-bench', version: toolVersion() },
    ready: list.every(({ severity }) => severity !== 'error'),
    host,
    driver: description ? seenDriver(description) : null,
    gpu: description ? description.inspection.devices.map((device) => gpuInfo(description.inspection, device)) : [],
    mps,
    preload: facts.workerError === null ? (description?.preload ?? []) : asked(facts.environment),
    workerError: facts.workerError,
    layer: attestation?.layer ?? null,
    functions: description?.provenance.functions.length ?? 0,
    interceptors: found,
    findings: list,
  };
}

/** What a process that ended too early was told to preload. */
const asked = ({ LD_PRELOAD = '' }: NodeJS.ProcessEnv): PreloadEntry[] =>
  parseVariable(LD_PRELOAD).map((entry) => ({ entry, source: 'LD_PRELOAD', mapped: null }));

type Seen = Pick<Facts, 'addonError' | 'driverError' | 'workerError' | 'workerFix' | 'description' | 'attestation'>;

async function look(request: DiagnosisRequest): Promise<Seen> {
  const nothing: Seen = {
    addonError: null,
    driverError: null,
    workerError: null,
    description: null,
    attestation: null,
  };
  let probe: ReturnType<NativeAddon['probeDriver']>;
  try {
    probe = request.loadAddon().probeDriver();
  } catch (error) {
    return { ...nothing, addonError: messageOf(error) };
  }
  const driverError = probe.path === null ? dlopenReason(probe.error) : null;
  const simulatedDriver = probe.path === null ? request.simulatedFolder() : null;
  if (probe.path === null && simulatedDriver === null) return { ...nothing, driverError };
  try {
    const description = await describeOnce(request, request.system.environment(), { simulatedDriver });
    return { ...nothing, driverError, description, attestation: await request.system.attest(description) };
  } catch (error) {
    return { ...nothing, driverError, ...(await withoutPreload(request, simulatedDriver, error)) };
  }
}

/** Whether it is the preload that ends a process, and what is there without it. */
async function withoutPreload(
  request: DiagnosisRequest,
  simulatedDriver: string | null,
  error: unknown,
): Promise<Pick<Seen, 'workerError' | 'workerFix' | 'description'>> {
  const { LD_PRELOAD, ...bare } = request.system.environment();
  const reason = messageOf(error);
  if (LD_PRELOAD === undefined) return { workerError: reason, description: null };
  try {
    const description = await describeOnce(request, bare, { simulatedDriver });
    const workerError = `The layer ends its processes: under LD_PRELOAD=${LD_PRELOAD} none could look at the GPU, without it one could. ${reason}`;
    return { workerError, workerFix: 'unset LD_PRELOAD', description };
  } catch {
    // Then the preload is not what ends it, or not alone: the first error stands.
    return { workerError: reason, description: null };
  }
}

async function describeOnce(
  { timeoutMs }: DiagnosisRequest,
  environment: NodeJS.ProcessEnv,
  target: Target,
): Promise<Description> {
  const worker = await Worker.start({ environment, patienceMs: timeoutMs });
  try {
    return await describe(worker, target);
  } finally {
    await worker.stop();
  }
}

/** What `doctor` inspects: the driver, the GPUs and the layers, from a worker in the caller's environment. */
import type { DriverInfo, GpuInfo, HostInfo, LayerInfo } from '../results/document.js';
import { gpuInfo } from '../environment/gpu.js';
import { type CheckpointTrial, tryCheckpoint } from '../checkpoint/trial.js';
import { hostInfo } from '../environment/host.js';
import { type MpsState, mpsState } from '../environment/mps.js';
import { nvidiaOnPciBus } from '../environment/pci.js';
import { toolVersion } from '../environment/tool.js';
import { messageOf } from '../errors/message-of.js';
import type { DriverProbe, NativeAddon, Target } from '../native/addon-types.js';
import { type MpsFeatures, mpsFeatures } from '../systems/kinds/mps/mps-features.js';
import { leftInContext } from '../systems/kinds/pod/left-pods.js';
import { seenDriver } from '../systems/proof/hidden-interception.js';
import { type Interceptor, interceptors } from '../systems/proof/interception.js';
import { type MissingFunction, missingFunctions } from '../systems/proof/missing-functions.js';
import { parseVariable } from '../systems/proof/ld-preload.js';
import type { System } from '../systems/system.js';
import { type Description, describe, type PreloadEntry } from '../workers/description.js';
import { localStart } from '../workers/local.js';
import { Worker } from '../workers/worker.js';
import { type Facts, type Finding, findings } from './findings.js';
import { dlopenReason, fatalText, probeDriver } from './plan/target.js';

export interface Diagnosis {
  schemaVersion: 1;
  kind: 'doctor';
  tool: { name: 'gpu-virt-bench'; version: string };
  /** Whether `run` would measure a real GPU. */
  ready: boolean;
  host: HostInfo;
  driver: DriverInfo | null;
  gpu: GpuInfo[];
  mps: MpsState & { features: MpsFeatures };
  preload: PreloadEntry[];
  /** Why no process in this environment could inspect the GPU. */
  workerError: string | null;
  /**
   * The variable without which a process could inspect the GPU, from which the driver's description then is; null if
   * there is none.
   */
  workerWithout: string | null;
  layer: LayerInfo | null;
  /** How many driver functions were looked up on each symbol path. */
  functions: number;
  interceptors: Interceptor[];
  /** Functions that the driver or NVML lacks, or that a layer hides. */
  missing: MissingFunction[];
  /** Whether GPU processes can be checkpointed here; null: not tried, because no process could use the GPU. */
  checkpoint: CheckpointTrial | null;
  findings: Finding[];
}

interface DiagnosisRequest {
  system: System;
  /** Loads the addon. Throws if it cannot be loaded. */
  loadAddon: () => NativeAddon;
  simulatedFolder: () => string | null;
  /** Timeout of each step of an inspecting process. Default: each step's own. */
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
  const left = await leftInContext(facts.environment);
  const list = [...findings(facts), ...(left === null ? [] : [leftFinding(left)])];
  return {
    schemaVersion: 1,
    kind: 'doctor',
    tool: { name: 'gpu-virt-bench', version: toolVersion() },
    ready: list.every(({ severity }) => severity !== 'error'),
    host,
    driver: description ? seenDriver(description) : null,
    gpu: description ? description.inspection.devices.map((device) => gpuInfo(description.inspection, device)) : [],
    mps: { ...mps, features: await mpsFeatures(facts.environment.PATH ?? '') },
    preload: facts.workerError === null ? (description?.preload ?? []) : asked(facts.environment),
    workerError: facts.workerError,
    workerWithout: facts.workerWithout ?? null,
    layer: attestation?.layer ?? null,
    functions: description?.provenance.functions.length ?? 0,
    interceptors: found,
    missing: description ? missingFunctions(description.provenance) : [],
    checkpoint: await trial(request, facts),
    findings: list,
  };
}

const leftFinding = ({ text, fix }: { text: string; fix: string | null }): Finding => ({
  severity: fix === null ? 'note' : 'warning',
  text: `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`,
  fix,
});

function trial({ simulatedFolder, timeoutMs }: DiagnosisRequest, facts: Facts): Promise<CheckpointTrial> | null {
  const { description, workerError, driverError, environment } = facts;
  const [device] = description?.inspection.devices ?? [];
  if (!device || workerError !== null) return null;
  const target = { simulatedDriver: driverError === null ? null : simulatedFolder() };
  return tryCheckpoint({ environment, target, gpu: device.uuid, deadlineMs: timeoutMs });
}

/** The preloads of a process that ended too early. */
const asked = ({ LD_PRELOAD = '' }: NodeJS.ProcessEnv): PreloadEntry[] =>
  parseVariable(LD_PRELOAD).map((entry) => ({ entry, source: 'LD_PRELOAD', mapped: null }));

type Seen = Pick<
  Facts,
  'addonError' | 'driverError' | 'workerError' | 'workerFix' | 'workerWithout' | 'description' | 'attestation'
>;

async function look(request: DiagnosisRequest): Promise<Seen> {
  const { timeoutMs } = request;
  const nothing: Seen = {
    addonError: null,
    driverError: null,
    workerError: null,
    description: null,
    attestation: null,
  };
  let probe: DriverProbe;
  try {
    probe = probeDriver(request.loadAddon(), timeoutMs === undefined ? null : timeoutMs / 1_000);
  } catch (error) {
    return { ...nothing, addonError: messageOf(error) };
  }
  if (probe.fatal) return { ...nothing, ...(await withoutPart(request, null, fatalText(probe))) };
  const driverError = probe.path === null ? dlopenReason(probe.error) : null;
  const simulatedDriver = probe.path === null ? request.simulatedFolder() : null;
  if (probe.path === null && simulatedDriver === null) return { ...nothing, driverError };
  try {
    const description = await describeOnce(request, request.system.environment(), { simulatedDriver });
    return { ...nothing, driverError, description, attestation: await request.system.attest(description) };
  } catch (error) {
    return { ...nothing, driverError, ...(await withoutPart(request, simulatedDriver, messageOf(error))) };
  }
}

/** Variables that can load a library which ends the process. */
const variables = ['LD_PRELOAD', 'LD_LIBRARY_PATH'] as const;

/** Finds the variable that makes the processes end, and inspects without it. */
async function withoutPart(
  request: DiagnosisRequest,
  simulatedDriver: string | null,
  reason: string,
): Promise<Pick<Seen, 'workerError' | 'workerFix' | 'workerWithout' | 'description'>> {
  const environment = request.system.environment();
  for (const name of variables) {
    const { [name]: value, ...rest } = environment;
    if (value === undefined) continue;
    try {
      const description = await describeOnce(request, rest, { simulatedDriver });
      const workerError = `The layer terminates its processes: with ${name}=${value} no process could inspect the GPU, without it one could. ${reason}`;
      return { workerError, workerFix: `unset ${name}`, workerWithout: name, description };
    } catch {
      // This variable is not the cause, or not the only one: keep the first error.
    }
  }
  return { workerError: reason, description: null };
}

async function describeOnce(
  { timeoutMs }: DiagnosisRequest,
  environment: NodeJS.ProcessEnv,
  target: Target,
): Promise<Description> {
  const worker = await Worker.start({ start: localStart(environment), patienceMs: timeoutMs });
  try {
    return await describe(worker, target);
  } finally {
    await worker.stop();
  }
}

/** A measured system: how its workers start, and how they prove that they are under it. */
import type { ApplicationPath, LayerInfo, RunDocument } from '../results/document.js';
import type { RotatingProgram } from '../checkpoint/rotating-program.js';
import type { RotationReport } from '../checkpoint/rotation.js';
import type { LayerProbe, NativeDevice, Target } from '../native/addon-types.js';
import type { Elsewhere } from './elsewhere.js';
import type { SystemSource } from './input/source.js';
import { isUnverified } from './system-name.js';
import type { Description } from '../workers/description.js';
import type { Launcher, ProcessStart } from '../workers/launcher.js';

export type Proof = RunDocument['system']['attestation'][number];

export interface Attestation {
  layer: LayerInfo | null;
  proofs: Proof[];
  groundTruth: RunDocument['groundTruth'];
  warnings: string[];
  /** Missing evidence: `proof` names the proof, `detail` says what was missing. */
  notChecked?: { proof: string; detail: string }[];
  /** Why no number may be published under the system's name; absent if every proof held. */
  invalid?: string;
  /** Why nothing was checked against the bare GPU, where `groundTruth` is none; absent: every process is hooked. */
  noTruth?: string;
  /** Why compute-limit metrics are unsupported although the layer is active; absent if there is no reason. */
  computeLimitUnsupported?: string;
}

export interface Limits {
  memoryBytes: number | null;
  /** Percentage of the card's compute, from 1 to 100. What it means depends on the layer (Capabilities). */
  smPercent: number | null;
  /** What a tenant keeps on a full card; above it others may take its memory. Absent: the layer has no such limit. */
  softMemoryBytes?: number;
}

/** A customer of the GPU: processes that share one quota. */
export interface Tenant {
  id: number;
  /** Override the system's own limits. */
  limits?: Partial<Limits>;
}

export const SOLE_TENANT: Tenant = { id: 0 };

/** The GPU as the coordinator's NVML shows it. */
export type TrueGpu = Pick<NativeDevice, 'index' | 'uuid' | 'memoryBytes' | 'multiprocessors' | 'pciBusId'>;

export interface RunState {
  runId: string;
  /** Exists, belongs to this run only, and is short: a socket's whole path has at most 108 bytes. */
  directory: string;
  gpu: TrueGpu;
  /** UUIDs of the other visible GPUs, for metrics that need several. */
  otherGpus: readonly string[];
  /** The visible GPUs as the coordinator's NVML shows them. */
  visibleGpus?: readonly TrueGpu[];
  target: Target;
  signal?: AbortSignal;
  /** Whether cards beside the measured one are in MIG mode: a process that is not told which to use sees an instance. */
  besideInstances?: boolean;
  /** Whether the system's processes are clients of an MPS daemon, which the system around it proves. Default false. */
  isUnderMps?: boolean;
  /** Whether limits can be checked against an NVML that no layer hooks, where the GPU is on another machine. Default true. */
  hasTruth?: boolean;
  /** The node that all pods of a comparison share, once the first one runs. */
  pinned?: { node: string | null };
  /** Timeout of each step of preparing a system, e.g. a command. Default: the system's own. */
  timeoutMs?: number;
}

export interface Capabilities {
  /** perTenantPool: a tenant's processes share a quota; perProcess: each has its own. */
  memLimit: 'none' | 'perProcess' | 'perTenantPool' | 'hardware';
  /** softDutyCycle: a target for utilisation over time; smCap: SMs in use at once. */
  computeLimit: 'none' | 'softDutyCycle' | 'smCap' | 'hardware';
  needsRoot: boolean;
  needsIdleGpu: boolean;
  changesGlobalGpuState: boolean;
  /** Smallest step of each limit; null if there is no such limit or its step is unknown. */
  limitGranularity: { memoryBytes: number | null; smPercent: number | null };
}

/** Capabilities of systems that set no limit and change nothing. */
export const NO_LIMITS: Capabilities = {
  memLimit: 'none',
  computeLimit: 'none',
  needsRoot: false,
  needsIdleGpu: false,
  changesGlobalGpuState: false,
  limitGranularity: { memoryBytes: null, smPercent: null },
};

/** An allocation that tests the limit: it must be granted or refused. */
export interface Canary {
  bytes: number;
  expected: 'granted' | 'refused';
}

const OVER_BYTES = 2 ** 28;

/** An allocation over a tenant's limit; empty if there is no limit, or the card is no larger. */
export function overLimit(memoryBytes: number | null, gpu: TrueGpu): Canary[] {
  if (memoryBytes === null || memoryBytes + OVER_BYTES > gpu.memoryBytes) return [];
  return [{ bytes: memoryBytes + OVER_BYTES, expected: 'refused' }];
}

/** What a worker learned about its layer by trying; `allocations` is null if none was tried. */
export type Probe = Omit<LayerProbe, 'allocations'> & { allocations: LayerProbe['allocations'] | null };

export interface Evidence {
  /**
   * `before` and `after`: around a worker's measurement. `process`: after a process of a metric's own has answered;
   * limited to cheap checks, without allocations and commands.
   */
  phase: 'before' | 'after' | 'process';
  tenant: Tenant;
  probe: Probe | null;
  /** The measured symbol path. */
  path: ApplicationPath;
}

/** Whether it can be measured here, and no other session was. */
export const isMeasuredNow = ({ unavailable, recordedIn }: System): boolean =>
  unavailable === null && recordedIn === undefined;

/** A system's part of a document before anything is known about its layer. */
export const systemHead = ({ name, kind, settings, spec }: System) => ({
  name,
  kind,
  ...(isUnverified(name) && { verified: false as const }),
  settings,
  ...(typeof spec === 'string' && { spec }),
});

export interface System {
  name: string;
  kind: string;
  /** Configuration of the system: environment variables, limits. */
  readonly settings: Record<string, string>;
  /** The system as an argument of `--system`; null or absent if that cannot express it. */
  readonly spec?: string | null;
  /** The settings it was created from; absent for the caller's environment. */
  readonly source?: SystemSource;
  readonly capabilities: Capabilities;
  /** Why it cannot be measured here at all, e.g. `library not available`: every metric is then `unsupported`. */
  readonly unavailable: string | null;
  /** A file with rounds of another session that stand for its own. Absent: it is measured. */
  readonly recordedIn?: string | undefined;
  /** Whether tenants with different limits may run at the same time. */
  readonly limitsCoexist: boolean;
  /** Whether a tenant must be ready before the next one starts. */
  readonly staggerStarts: boolean;
  /**
   * Called once, before any process of this system starts. Rejects with UsageError if a limit does not fit the card.
   */
  prepare(run: RunState): Promise<void>;
  /** Called before a tenant's first process. */
  prepareTenant(tenant: Tenant): Promise<void>;
  /** The complete environment of its workers. */
  environment(tenant?: Tenant): NodeJS.ProcessEnv;
  argvPrefix(tenant?: Tenant): readonly string[];
  /** Whether its processes see the measured GPU as device 0, whatever its index. Default false. */
  readonly showsMeasuredFirst?: boolean;
  /** Whether it measures a GPU of its own, not that of the comparison. Default false. */
  readonly picksGpu?: boolean;
  /** Whether something else chooses its GPU anew for every round, so that it may be another one. Default false. */
  readonly isPlaced?: boolean;
  /** The GPU of a tenant that differs from that of the comparison, once prepared; default: the first tenant's. */
  ownGpu?(tenant?: Tenant): TrueGpu | undefined;
  /** The setting that lets its processes see several GPUs, e.g. `gpus=visible`, if without it they see one. */
  readonly severalGpusBy?: string;
  /** Whether all its processes share the caller's environment and state. Default false. */
  readonly isCallers?: boolean;
  /** Whether its processes are clients of an MPS daemon. Default false. */
  readonly usesMps?: boolean;
  /** Whether its processes use the bare driver, with nothing in between. Default false. */
  readonly isBare?: boolean;
  /** Variables that its processes have without us, once prepared: no program may set others. Default: none. */
  readonly injected?: Readonly<Record<string, string>>;
  /** Why programs of exec cannot be under it. Default: they can. */
  readonly whyNoPrograms?: string | undefined;
  /** Whether its programs start where only the system can look for them, as in a container. Default false. */
  readonly startsElsewhere?: boolean;
  /** Whether the GPU may be one of another machine, which `lookElsewhere` then describes. Default false. */
  readonly looksElsewhere?: boolean;
  lookElsewhere?(target: Target, signal: AbortSignal): Promise<Elsewhere>;
  /** Whether every tenant has its limits, because they are part of its environment. Default false. */
  readonly limitsAreFixed?: boolean;
  /** For how long a tenant has the card while others wait without any progress, in ms; absent: all run at the same time. */
  readonly turnMs?: number;
  /** What the turns were since the first of its tenants that live now. Absent: there are none. */
  turns?(): RotationReport;
  /** How a program of a tenant takes turns. Present with `turns`. */
  programOf?(tenant: Tenant): RotatingProgram;
  /** How its processes come to be. */
  readonly launcher: Launcher;
  /** The limits of a tenant's workers; null if none was set. */
  limits(tenant?: Tenant): Limits;
  /** Whether a worker should probe its layer before it is judged; `run` without a system does not. */
  readonly wantsProbe: boolean;
  /** Whether only kernels show that a process is under it: then every process is probed. Default false. */
  readonly provesByKernels?: boolean | undefined;
  /** Allocations a probe should try, in this order. */
  canaries(tenant?: Tenant): readonly Canary[];
  /** Judges a running worker's description of itself. */
  attest(description: Description, evidence?: Evidence): Promise<Attestation>;
  /** Called after all tenants have ended and before one starts with other limits. */
  betweenLimits(): Promise<void>;
  /**
   * Changes the compute limit of a running tenant. Resolves with the reason if the layer cannot, with null on success.
   * Absent if no way is known.
   */
  changeLimit?(tenant: Tenant, smPercent: number): Promise<string | null>;
  /** Files that the layer keeps for a tenant alone, once it is prepared. Absent: none, or none are known. */
  ownStateFiles?(tenant: Tenant): readonly string[];
  /** Makes sure that new tenants can start after a fault that reached other tenants; called when all have ended. */
  recover?(): Promise<void>;
  /** Called after the tenant's last process has ended. */
  reap(tenant: Tenant): Promise<void>;
  /** Called after all tenants were reaped, also after a failure in any of the above; may be called twice. */
  teardown(): Promise<void>;
}

export function startOf(system: System, tenant: Tenant = SOLE_TENANT): ProcessStart {
  const gpu = system.ownGpu?.(tenant);
  return {
    launcher: system.launcher,
    environment: system.environment(tenant),
    argvPrefix: system.argvPrefix(tenant),
    ...(gpu && { device: gpu.uuid }),
  };
}

export const FIRST_LOOK: Evidence = { phase: 'before', tenant: SOLE_TENANT, probe: null, path: 'runtime' };

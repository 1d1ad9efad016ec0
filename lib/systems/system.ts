/** What a measured system is: how its workers start, and how it is shown that a worker is under it. */
import type { ApplicationPath, LayerInfo, RunDocument } from '../results/document.js';
import type { LayerProbe, NativeDevice, Target } from '../native/addon-types.js';
import type { SystemSource } from './source.js';
import { isUnverified } from './system-name.js';
import type { Description } from '../workers/description.js';
import type { Launcher, ProcessStart } from '../workers/launcher.js';

export type Proof = RunDocument['system']['attestation'][number];

export interface Attestation {
  layer: LayerInfo | null;
  proofs: Proof[];
  groundTruth: RunDocument['groundTruth'];
  warnings: string[];
  /** What would have been a proof, had somebody looked: `proof` names it, `detail` says what was missing. */
  notChecked?: { proof: string; detail: string }[];
  /** Why no number may be published under the system's name; absent where every proof held. */
  invalid?: string;
  /** Why compute-limit metrics are unsupported although the layer is on; absent where nothing speaks against them. */
  computeLimitUnsupported?: string;
}

export interface Limits {
  memoryBytes: number | null;
  /** Per cent of the card's compute, from 1 to 100. What a per cent means is the layer's own (Capabilities). */
  smPercent: number | null;
}

/** One customer of the GPU: the processes that share one quota. */
export interface Tenant {
  id: number;
  /** Instead of the system's own limits. */
  limits?: Partial<Limits>;
}

export const SOLE_TENANT: Tenant = { id: 0 };

/** The GPU as the coordinator's NVML shows it. */
export type TrueGpu = Pick<NativeDevice, 'index' | 'uuid' | 'memoryBytes' | 'multiprocessors'>;

export interface RunState {
  runId: string;
  /** Exists, belongs to this run alone, and is short: a socket's whole path has 108 bytes. */
  directory: string;
  gpu: TrueGpu;
  target: Target;
  signal?: AbortSignal;
  /** Most time for each step of preparing a system, e.g. a command of it. Default: the system's own. */
  timeoutMs?: number;
}

export interface Capabilities {
  /** perTenantPool: one quota over a tenant's processes; perProcess: each has its own. */
  memLimit: 'none' | 'perProcess' | 'perTenantPool' | 'hardware';
  /** softDutyCycle: a target for utilisation over time; smCap: SMs in use at once. */
  computeLimit: 'none' | 'softDutyCycle' | 'smCap' | 'hardware';
  needsRoot: boolean;
  needsIdleGpu: boolean;
  changesGlobalGpuState: boolean;
  /** Smallest step of each limit; null where there is no such limit or its step is unknown. */
  limitGranularity: { memoryBytes: number | null; smPercent: number | null };
}

/** Of what sets no limit and changes nothing. */
export const NO_LIMITS: Capabilities = {
  memLimit: 'none',
  computeLimit: 'none',
  needsRoot: false,
  needsIdleGpu: false,
  changesGlobalGpuState: false,
  limitGranularity: { memoryBytes: null, smPercent: null },
};

/** An allocation whose fate proves the limit. */
export interface Canary {
  bytes: number;
  expected: 'granted' | 'refused';
}

const OVER_BYTES = 2 ** 28;

/** An allocation over a tenant's limit; none where there is no limit, or the card is no larger. */
export function overLimit(memoryBytes: number | null, gpu: TrueGpu): Canary[] {
  if (memoryBytes === null || memoryBytes + OVER_BYTES > gpu.memoryBytes) return [];
  return [{ bytes: memoryBytes + OVER_BYTES, expected: 'refused' }];
}

/** What a worker found out about its layer by trying; `allocations` is null where none was tried. */
export type Probe = Omit<LayerProbe, 'allocations'> & { allocations: LayerProbe['allocations'] | null };

export interface Evidence {
  /**
   * `before` and `after` what a worker measures. `process`: after what a process of a metric's own was asked, by what it
   * costs little to see; nothing is allocated and no command is run for it.
   */
  phase: 'before' | 'after' | 'process';
  tenant: Tenant;
  probe: Probe | null;
  /** The symbol path that is measured. */
  path: ApplicationPath;
}

/** What a document says of a system before anything is known of its layer. */
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
  /** What was set for it: environment variables, limits. */
  readonly settings: Record<string, string>;
  /** As `--system` takes it; null or absent where that cannot say it. */
  readonly spec?: string | null;
  /** What it was made from; absent of the environment as it is. */
  readonly source?: SystemSource;
  readonly capabilities: Capabilities;
  /** Why it cannot be measured here at all, e.g. `library not available`: every metric is then `unsupported`. */
  readonly unavailable: string | null;
  /** Whether tenants with different limits may live at one time. */
  readonly limitsCoexist: boolean;
  /** Whether a tenant must be ready before the next one starts. */
  readonly staggerStarts: boolean;
  /** Once, before any process of this system starts. Rejects with UsageError where a limit does not fit the card. */
  prepare(run: RunState): Promise<void>;
  /** Before a tenant's first process. */
  prepareTenant(tenant: Tenant): Promise<void>;
  /** The whole environment of its workers. */
  environment(tenant?: Tenant): NodeJS.ProcessEnv;
  argvPrefix(tenant?: Tenant): readonly string[];
  /** Whether its processes see the measured GPU alone, as device 0. Default false. */
  readonly showsOneGpu?: boolean;
  /** How its processes come to be. */
  readonly launcher: Launcher;
  /** What a tenant's workers are limited to; null where nothing was set. */
  limits(tenant?: Tenant): Limits;
  /** Whether a worker should try out its layer before it is judged; `run`, which takes things as they are, does not. */
  readonly wantsProbe: boolean;
  /** Allocations a probe should try, in this order. */
  canaries(tenant?: Tenant): readonly Canary[];
  /** Judges what a living worker said of itself. */
  attest(description: Description, evidence?: Evidence): Promise<Attestation>;
  /** After every tenant has ended and before the first starts with other limits. */
  betweenLimits(): Promise<void>;
  /**
   * Changes the compute limit of a running tenant. Resolves with why the layer cannot; null where it was told. Absent:
   * nothing is known of such a way.
   */
  changeLimit?(tenant: Tenant, smPercent: number): Promise<string | null>;
  /** After a fault that reached other tenants, when all have ended: makes sure that new ones can start. */
  recover?(): Promise<void>;
  /** After the tenant's last process has ended. */
  reap(tenant: Tenant): Promise<void>;
  /** After all tenants were reaped; also after a failure anywhere above, and twice does no harm. */
  teardown(): Promise<void>;
}

export const startOf = (system: System, tenant: Tenant = SOLE_TENANT): ProcessStart => ({
  launcher: system.launcher,
  environment: system.environment(tenant),
  argvPrefix: system.argvPrefix(tenant),
});

export const FIRST_LOOK: Evidence = { phase: 'before', tenant: SOLE_TENANT, probe: null, path: 'runtime' };

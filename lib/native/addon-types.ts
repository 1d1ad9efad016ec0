/**
 * The one typed description of the native surface (native/addon implements it; requests and answers by topic).
 * Times are nanoseconds; arrays of samples are Float64Array. Every promise may reject with an object that
 * lib/native/errors.ts turns into the public error classes.
 */
import type { GpuDetail, GpuState } from './gpu-state-types.js';
import type { ClockReading, Inspection, LayerProbe, Provenance, Scheduling } from './inspection-types.js';
import type {
  LaunchBlock,
  LaunchRequest,
  PacedLaunches,
  PacedLaunchRequest,
  PairBlock,
  PairRequest,
} from './launch-types.js';
import type {
  AllocationBlock,
  AllocationRequest,
  FreeBlock,
  FreeRequest,
  LiveSetCell,
  LiveSetRequest,
} from './memory-types.js';
import type { Discovery, DiscoveryRequest, StartUp, StartUpRequest } from './start-up-types.js';
import type { DeviceTarget, Target } from './target-types.js';
import type {
  ComputeShare,
  ComputeShareRequest,
  TenantWindow,
  WindowRequest,
  Work,
  WorkRequest,
} from './tenant-types.js';

export type * from './gpu-state-types.js';
export type * from './inspection-types.js';
export type * from './launch-types.js';
export type * from './memory-types.js';
export type * from './start-up-types.js';
export type * from './target-types.js';
export type * from './tenant-types.js';

export interface DriverProbe {
  path: string | null;
  error: string | null;
  /** It is there, but whatever loads it ends or hangs; `error` says how. */
  fatal: boolean;
}

export interface NativeAddon {
  /** dlopen of libcuda.so.1 and nothing more, in a process of its own: where it was found, or why not. Blocks. */
  probeDriver(options: { timeoutMs: number }): DriverProbe;
  /** Versions and devices as NVML and the driver say. Initialises both; never creates a context. */
  inspect(target: Target): Promise<Inspection>;
  /** Who owns each driver function on each of the four symbol paths. Makes no driver call. */
  provenance(target: Target): Promise<Provenance>;
  /** The start of a process split into steps; once per process, before anything else. */
  startUp(request: StartUpRequest): Promise<StartUp>;
  /** How long finding all GPUs through NVML takes; the first pass is cold in a fresh process. */
  discovery(request: DiscoveryRequest): Promise<Discovery>;
  /** Retains the device's primary context until the process ends: sessions on it then open at once. */
  keepContext(target: DeviceTarget): Promise<void>;
  /** Waits until no other session of this process is open, then retains the device's primary context. */
  openSession(target: DeviceTarget): Promise<number>;
  /** Waits as openSession does, but touches no device: the turn of a measurement made by other processes. */
  openTurn(): Promise<number>;
  closeSession(session: number): Promise<void>;
  /** Stops the session's running task at its next sample; that task rejects with kind `aborted`. */
  cancel(session: number): void;
  /** NVML's view of a GPU by UUID, without a session or any CUDA call; null where NVML knows no such GPU. */
  gpuState(request: Target & { uuid: string; detail: GpuDetail }): Promise<GpuState | null>;
  /** NVML's view of the session's GPU; every field null where NVML does not know it. */
  health(session: number): Promise<GpuState>;
  /** How the host waits in the session's context, as cuCtxGetFlags says; null where it does not tell. */
  scheduling(session: number): Promise<Scheduling | null>;
  /** What cuMemGetInfo tells this process, which a layer may bend; null where it refused. */
  visibleMemory(session: number): Promise<{ freeBytes: number | null; totalBytes: number | null }>;
  /** What the process finds out about its layer by trying; every granted allocation is freed at once. */
  probeLayer(session: number, request: { allocations: number[] }): Promise<LayerProbe>;
  /** Keeps kernels that fill the device queued and says how much of the device's time they ran. */
  computeShare(session: number, request: ComputeShareRequest): Promise<ComputeShare>;
  /** One operation repeated from an absolute time on: what each of several tenants does at the same time. */
  window(session: number, request: WindowRequest): Promise<TenantWindow>;
  /** The fixed unit of work of OH-010, repeated; rejects where a unit's results are wrong. */
  work(session: number, request: WorkRequest): Promise<Work>;
  /** The clocks of this process, held against the system call and the processor's counter since the addon was loaded. */
  clockReading(): ClockReading;
  /** CLOCK_MONOTONIC_RAW in nanoseconds, one timebase for all processes of a machine. */
  now(): number;
  launchBlock(session: number, request: LaunchRequest): Promise<LaunchBlock>;
  allocationBlock(session: number, request: AllocationRequest): Promise<AllocationBlock>;
  freeBlock(session: number, request: FreeRequest): Promise<FreeBlock>;
  /** Pairs of an allocation and a free among ever other numbers of live blocks, in the order of `lives`. */
  liveSets(session: number, request: LiveSetRequest): Promise<LiveSetCell[]>;
  /** How long each launch call took, in nanoseconds, of launches so slow that nobody need hold them back. */
  pacedLaunches(session: number, request: PacedLaunchRequest): Promise<PacedLaunches>;
  /** The code a second free of one pointer returns. */
  doubleFree(session: number): Promise<{ code: number; name: string }>;
  /** Names pairBlock accepts. */
  pairFunctions(): string[];
  pairBlock(session: number, request: PairRequest): Promise<PairBlock>;
  timer(): { resolutionNs: number; pairCostNs: number };
  /** The kernel kills this process when the thread that started it ends. */
  dieWithParent(): void;
}

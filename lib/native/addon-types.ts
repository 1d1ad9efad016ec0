/**
 * The one typed description of the native surface (native/addon/addon.cpp implements it).
 * Times are nanoseconds; arrays of samples are Float64Array. Every promise may reject with an object that
 * lib/native/errors.ts turns into the public error classes.
 */
import type { ApplicationPath, SymbolPath } from '../document.js';

export interface NativeAddon {
  /** dlopen of libcuda.so.1 and nothing more: where it was found, or why not. */
  probeDriver(): { path: string | null; error: string | null };
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
  pacedLaunches(session: number, request: PacedLaunchRequest): Promise<number[]>;
  /** The code a second free of one pointer returns. */
  doubleFree(session: number): Promise<{ code: number; name: string }>;
  /** Names pairBlock accepts. */
  pairFunctions(): string[];
  pairBlock(session: number, request: PairRequest): Promise<PairBlock>;
  timer(): { resolutionNs: number; pairCostNs: number };
  /** The kernel kills this process when the thread that started it ends. */
  dieWithParent(): void;
}

/** `simulatedDriver`: folder of the simulated libraries, or null for the machine's own driver. */
export interface Target {
  simulatedDriver: string | null;
}

export interface DeviceTarget extends Target {
  /** NVML index, UUID or its unambiguous beginning, or null for the first visible GPU. */
  device: number | string | null;
  path: ApplicationPath;
}

export interface StartUpRequest extends DeviceTarget {
  contextApi: ContextApi;
  /** How often the primary context is released and retained again after the start. */
  recreations: number;
  /** As `now` says it, waited for before libcuda is looked for; null, or a time that has passed, starts at once. */
  startAtNs: number | null;
  /** The context stays until the process ends, as that of a program at work does; nothing is re-created. */
  keep: boolean;
}

export interface DiscoveryRequest extends Target {
  /** Warm passes after the first. */
  repeats: number;
}

export interface Discovery {
  /** dlopen of NVML and resolving its functions. */
  loadNs: number;
  /** One per step, in the order of `stepsNs`, as dlsym gave them. */
  functions: { name: string; owner: string | null; intercepted: boolean }[];
  first: DiscoveryPass;
  repeats: DiscoveryPass[];
  /** Of the GPUs that were found. */
  uuids: string[];
}

export interface DiscoveryPass {
  totalNs: number;
  /** A step asked of every GPU is the sum over them. */
  stepsNs: number[];
}

export type ContextApi = 'cuDevicePrimaryCtxRetain' | 'cuCtxCreate';

export interface Inspection {
  simulated: boolean;
  libcuda: string;
  libnvidiaMl: string | null;
  driverVersion: string | null;
  cudaVersion: number | null;
  cuda: { code: number; name: string; call: string } | null;
  nvml: { code: number; name: string; call: string } | null;
  devices: NativeDevice[];
  /** `judgeClock` (clock.ts) says whether times taken in that process may be published. */
  clock: ClockReading;
}

export interface NativeDevice {
  index: number;
  uuid: string;
  name: string;
  memoryBytes: number;
  /** As cuDeviceTotalMem tells this process; a layer may bend it. */
  visibleMemoryBytes: number;
  computeCapability: string;
  multiprocessors: number;
  maxSmClockMhz: number | null;
  pciBusId: string | null;
  migMode: 'enabled' | 'disabled' | 'not supported';
  persistenceMode: boolean | null;
  computeMode: 'default' | 'exclusive-thread' | 'prohibited' | 'exclusive-process' | null;
  mpsClient: boolean | null;
}

export type Scheduling = 'auto' | 'spin' | 'yield' | 'blocking';

export interface ClockReading {
  /** Whom the functions belong to that the process reads time with; `own`: libc, with the code of its file. */
  functions: { name: string; owner: string | null; own: boolean }[];
  /** What passed since the addon was loaded: by libc's function, the raw system call and the processor's counter. */
  rates: {
    clock: string;
    libraryNs: number;
    systemNs: number;
    /** Null where the counter cannot be used, for the reason in `counterUnused`. */
    counterNs: number | null;
    /** What lies between two readings of one moment. */
    bracketNs: number;
  }[];
  counterUnused: string | null;
}

/** The beginning of a driver function differs from the file it was mapped from. */
export interface PatchedCode {
  /** As it is in memory, hexadecimal. */
  bytes: string;
  /** The object that the jump at its beginning leads to; null where there is no jump, or nobody owns its target. */
  owner: string | null;
}

export interface Provenance {
  functions: { name: string; owners: Record<SymbolPath, string | null>; patched?: PatchedCode }[];
  nvml: { name: string; owners: { dlsym: string | null; bare: string | null }; patched?: PatchedCode }[];
  /** Why the driver's code was not compared with its file; null where it was. */
  codeUnreadable: string | null;
  libcuda: LibcudaInfo;
  /** Objects mapped into the process that export `dlsym` or names beginning with `cu`, drivers and libc aside. */
  objects: { path: string; cudaExports: number; exportsDlsym: boolean; exportsInit: boolean }[];
}

export interface LibcudaInfo {
  /** What the process gets as libcuda.so.1. */
  loaded: string;
  /** The driver itself: another file where libcuda.so.1 was replaced by one that forwards to it. */
  driver: string;
  simulated: boolean;
  /** Version of the NVIDIA kernel module; null where the system does not tell. */
  kernelModule: string | null;
  /** Whether `driver` is of that version; null where it is unknown. */
  carriesKernelVersion: boolean | null;
}

export interface StartUp {
  loadNs: number;
  resolveNs: number;
  initNs: number;
  deviceNs: number;
  contextNs: number;
  moduleNs: number;
  firstAllocNs: number;
  firstLaunchNs: number;
  secondLaunchNs: number;
  /** cuInit … first kernel's result on the host. */
  totalNs: number;
  /** As `now` says it: the request is there; the start begins; the first result is on the host. */
  readyAtNs: number;
  beganAtNs: number;
  firstResultAtNs: number;
  /** Of the context that did the work; null where it is kept. */
  firstReleaseNs: number | null;
  resultCorrect: boolean;
  contextFunction: string;
  contextOwner: string | null;
  loadingMode: 'eager' | 'lazy' | null;
  /** When the driver's device files were opened; `process start`: before libcuda was looked for. */
  initialisedAt: 'process start' | 'load' | 'look-up' | 'cuInit' | 'unknown';
  /** The object whose functions a program meets in place of the driver's, or of libc's dlsym. */
  interposer: string | null;
  /** Whether the primary context was there before it was retained; null where the driver does not tell. */
  contextWasActive: boolean | null;
  /** PIDs in NVML's list while the context existed and after its release; null where NVML cannot tell. */
  processesDuring: number[] | null;
  processesAfter: number[] | null;
  /** Free memory of the GPU as NVML says it, likewise. */
  gpuFreeDuringBytes: number | null;
  gpuFreeAfterBytes: number | null;
  pid: number;
  retainNs: number[];
  releaseNs: number[];
  /** Whether cuDevicePrimaryCtxGetState said inactive after every release. */
  inactiveBetween: boolean;
  /** Whether this process left NVML's list after every release; null where NVML cannot tell. */
  leftListBetween: boolean | null;
  /** NVML lists an MPS client until its process ends, whatever becomes of its context. */
  mpsClient: boolean;
}

export interface LayerProbe {
  visibleTotalBytes: number | null;
  /** HAMi-core's own `pidfound`, and its limits as its functions say them; null under anything else. */
  pidFound: boolean | null;
  memoryLimitBytes: number | null;
  smPercent: number | null;
  allocations: { bytes: number; code: number }[];
}

/** Whole numbers, above 0 but for `blocks`. */
export interface ComputeShareRequest {
  /** For how long the host launches, in milliseconds. */
  durationMs: number;
  /** Of each kernel; 0 asks for 1000 for each of the device's multiprocessors. */
  blocks: number;
  threadsPerBlock: number;
  /** For how long every block spins, in nanoseconds. */
  spinNs: number;
  /** Most launches that are not over at any time. */
  inFlight: number;
  /** Length of one of `bins`, in milliseconds of the device's time. */
  binMs: number;
}

/** Shares are of 1, in the time the device itself stamps. */
export interface ComputeShare {
  launches: number;
  /** How long a kernel took at the median. */
  kernelNs: number;
  /** Of the time from the first kernel's start to the last one's end. */
  busyShare: number;
  /** Of each whole window of `binMs` from the first kernel's start on; a rest behind the last window is in none. */
  bins: number[];
}

/** What changes all the time, and is cheap to ask for (the rest is null); or all of it. */
export type GpuDetail = 'readings' | 'all';

/** What NVML says of a GPU; null where it does not. */
export interface GpuState {
  smClockMhz: number | null;
  maxSmClockMhz: number | null;
  memoryClockMhz: number | null;
  temperatureC: number | null;
  powerW: number | null;
  performanceState: number | null;
  persistenceMode: boolean | null;
  /** Bits of nvmlDeviceGetCurrentClocksEventReasons. */
  eventReasons: number | null;
  /** Per cent of NVML's last sampling period in which a kernel ran, or memory was accessed. */
  gpuPercent: number | null;
  memoryPercent: number | null;
  usedBytes: number | null;
  freeBytes: number | null;
  totalBytes: number | null;
  processes: { pid: number; usedBytes: number | null }[] | null;
}

export type LaunchCall = 'cuLaunchKernel' | 'cuLaunchKernelEx' | 'cuGraphLaunch';

export interface LaunchRequest {
  call: LaunchCall;
  count: number;
  warmup: number;
  seed: number;
  /** Whose turn it is, counted around the processors that the thread may use. */
  core: number;
}

export interface LaunchBlock {
  submitNs: Float64Array;
  startNs: Float64Array;
  roundTripNs: Float64Array;
  /** The processor it was on; null where the system lets no thread choose. */
  core: number | null;
  mapping: {
    /** Root mean square of the tightest exchanges about the fitted line. */
    residualNs: number;
    bracketNs: number;
    driftPpm: number;
    tickNs: number;
    exchanges: number;
  };
}

export type AllocationApi = 'cuMemAlloc' | 'cuMemCreate' | 'cuMemAllocAsync';

export interface AllocationRequest {
  api: AllocationApi;
  /** 0 asks for the allocation granularity. */
  bytes: number;
  live: number;
  count: number;
  warmup: number;
}

export interface AllocationBlock {
  bytes: number;
  live: number;
  allocNs: Float64Array;
  freeNs: Float64Array;
}

export interface WorkRequest {
  warmupMs: number;
  windowMs: number;
}

export interface Work {
  /** One a timed unit, in order. */
  unitNs: Float64Array;
  /** Units, at random, in which the allocated blocks were written and read back: verified like all others, not timed. */
  untimedUnits: number;
}

export interface WindowRequest {
  /** `launch` is timed without the synchronisation that follows it; `allocFree` is both calls. */
  operation: 'allocFree' | 'memGetInfo' | 'launch';
  /** Of an allocation; 0 asks for the granularity. */
  bytes: number;
  /** As `now` says it; a time that has passed starts at once. */
  startAtNs: number;
  windowNs: number;
  warmup: number;
  /** Of more operations every second, fourth, … one is kept. */
  mostSamples: number;
}

/** Times are relative to `startAtNs`. */
export interface TenantWindow {
  startedNs: number;
  endedNs: number;
  operations: number;
  /** Of allocations: how often two blocks were written and read back, beside the operations. */
  verified: number;
  /** Device memory of this process; null where NVML cannot tell, and of other operations. */
  usedBefore: number | null;
  usedAfter: number | null;
  /** When a sample's operation began, and how long it took. */
  atNs: Float64Array;
  tookNs: Float64Array;
}

export interface FreeRequest {
  bytes: number;
  live: number;
  order: 'fifo' | 'lifo' | 'random';
  count: number;
  warmup: number;
  seed: number;
}

export interface FreeBlock {
  bytes: number;
  live: number;
  freeNs: Float64Array;
  usedBefore: number | null;
  usedAfter: number | null;
}

export interface LiveSetRequest {
  /** Of a block. */
  bytes: number;
  /** Live blocks of each cell, beside the one its pairs allocate. */
  lives: number[];
  /** Pairs of a cell. */
  count: number;
  warmup: number;
  /** Pointers looked at for one sample of `queryNs`; 0: none are. */
  queries: number;
  seed: number;
  /** Whose turn it is, counted around the processors that the thread may use. */
  core: number;
}

export interface LiveSetCell {
  live: number;
  /** One allocation and one free of a random live block, a pair. */
  allocNs: Float64Array;
  freeNs: Float64Array;
  /** Of one cuPointerGetAttribute of a random live block. */
  queryNs: Float64Array;
}

export type PacedCall = LaunchCall | 'cuLaunchCooperativeKernel';

export interface PacedLaunchRequest {
  call: PacedCall;
  count: number;
  warmup: number;
  /** From one call to the next. */
  periodNs: number;
  /** For how long every block spins; 0: the kernel ends at once. */
  spinNs: number;
  /** Blocks, of 32 threads. */
  grid: number;
  /** Whose turn it is, counted around the processors that the thread may use. */
  core: number;
}

export interface PairRequest {
  name: string;
  /** Samples: each is the mean of two batches of either pointer, in the order A B B A. */
  batches: number;
  /** Before each batch the host does something else for up to so long, at least a quarter of it. */
  gapNs: number;
  /** Most calls a batch; shortened so that two batches stay below maxBatchNs. */
  calls: number;
  maxBatchNs: number;
  seed: number;
  /** Whose turn it is, counted around the processors that the thread may use. */
  core: number;
}

export interface PairBlock {
  owner: string | null;
  bareOwner: string | null;
  intercepted: boolean;
  calls: number;
  /** Per call, one per batch. */
  hookedNs: Float64Array;
  bareNs: Float64Array;
  /** What the calibration interposer says its hook took at the median; null where it is not loaded. */
  achievedNs: number | null;
}

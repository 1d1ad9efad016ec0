/**
 * The one typed description of the native surface. Generated from native/addon by npm run docs.
 * Times are nanoseconds; arrays of samples are Float64Array. Every promise may reject with an object that
 * lib/native/errors.ts turns into the public error classes; a request of another shape is a TypeError.
 */

// Aggressors

export type AggressorKind =
  | 'longKernels'
  | 'blockFill'
  | 'dramStream'
  | 'l2Thrash'
  | 'tlbThrash'
  | 'issueSlots'
  | 'copyToDevice'
  | 'copyToHost'
  | 'launchStorm'
  | 'allocStorm'
  | 'contextStorm'
  | 'graphStorm';

export interface AggressorRequest {
  kind: AggressorKind;
  /** A time of `now`; starts at once if it has passed. */
  startAtNs: number;
  windowNs: number;
  /** Memory quota that an allocation storm tries to exceed; 0: no quota. */
  quotaBytes: number;
}

/** Times are relative to `startAtNs`. */
export interface Aggression {
  startedNs: number;
  endedNs: number;
  /** That were seen to finish. */
  operations: number;
  /** Counted by the device for them. */
  blocks: number;
  /** When operations were seen to finish. */
  marksNs: number[];
  /** Peak device memory. */
  usedBytes: number;
  /** Copied by each operation; left out: it does not copy. */
  operationBytes?: number;
  /** Allocations that were refused. */
  refused: number;
  /** Allocations above the quota that were granted, and given back at once. */
  exceeded: number;
  /** Why it cannot run here; null: it ran. */
  missing: string | null;
}

// Allocations and frees

export type AllocationApi = 'cuMemAlloc' | 'cuMemCreate' | 'cuMemAllocAsync' | 'cuMemAllocFromPoolAsync';

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

export interface FreeRequest {
  /** 0 asks for the allocation granularity. */
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
  /** By this process, on the device; null if NVML cannot report it. */
  usedBefore: number | null;
  usedAfter: number | null;
}

export interface DriverCode {
  code: number;
  name: string;
}

// Attention

export interface AttentionRequest {
  number: 'fp16' | 'bf16';
  /** 64 or 128. */
  headDim: number;
  heads: number;
  kvHeads: number;
  /** Tokens of a sequence. */
  length: number;
  /** Sequences. 0: at least four heads a multiprocessor, within a quarter of the free memory. */
  batch: number;
  causal: boolean;
  /** Number of timed batches of launches. */
  batches: number;
  /** Minimum per batch. */
  leastLaunches: number;
  /** Minimum per batch. */
  leastNs: number;
  /** Seed of the inputs. */
  seed: number;
}

export interface AttentionRate {
  variant: string;
  computeCapability: string;
  multiprocessors: number;
  /** Sequences. */
  batch: number;
  /** Per launch: 4 · head dimension for each pair of a query and a key that it sees. */
  launchFlops: number;
  /** Size of a launch's operands, each counted once. */
  launchBytes: number;
  /** Time per launch in each batch. */
  launchNs: number[];
  /** In a batch. */
  launches: number;
  /** The highest reading while launches ran, which only NVML gives. */
  smClockMhz: number | null;
  sampledRows: number;
  /** Largest error of sampled rows against double precision, relative to the row's largest value. */
  worstError: number;
  /** Checksum of the whole output. */
  checksum: string;
}

// Bandwidth over time

export type StreamKind = 'read' | 'write' | 'copy';

export interface StreamWindowRequest {
  kind: StreamKind;
  /** Of a buffer, of which a copy has two; 0: eight times the L2 cache, at least 64 MiB. */
  bytes: number;
  /** Of 1024 threads; 0: two a multiprocessor. */
  blocks: number;
  /** As `now` says it; a time that has passed starts at once. */
  startAtNs: number;
  /** By the device's clock or the host's, whichever passes first. */
  windowNs: number;
}

export interface StreamWindow {
  /** Of a buffer. */
  bytes: number;
  blocks: number;
  /** That the tenant is told of. */
  multiprocessors: number;
  /** By a kernel: a copy reads and writes. */
  movedBytes: number;
  /** By its memory clock and bus width; 0: unknown. */
  dramCeilingGbs: number;
  /** Of the device's clock; the other times count from there. */
  originMs: number;
  /** Of each kernel, when its first block began. */
  fromNs: number[];
  /** Of each kernel, when its last block ended. */
  toNs: number[];
}

// Batch sizes

export interface StreamRequest {
  kind: StreamKind;
  /** Of a buffer, a multiple of 32 KiB; 0: 1 GiB or eight times the L2 cache. */
  bytes: number;
  batches: number;
  /** Minimum per batch. */
  leastLaunches: number;
  /** Minimum per batch. */
  leastNs: number;
}

export interface StreamTimes {
  /** By a launch: a copy reads and writes. */
  movedBytes: number;
  /** Time per launch in each batch. */
  launchNs: number[];
}

export interface BatchScalingRequest {
  /** Rows of a layer's weights; 0: 8192, or as many as are twice the L2 cache. */
  n: number;
  /** Columns; a multiple of 64. */
  k: number;
  /** 0: as many as are eight times the L2 cache and fit a quarter of the free memory. */
  layers: number;
  /** Of the buffer that is read for the memory's rate; 0: 1 GiB or more. */
  streamBytes: number;
  seed: number;
  /** In each of which every batch has its turn. */
  rounds: number;
  /** Minimum per turn. */
  leastLaunches: number;
  /** Minimum per turn. */
  leastNs: number;
}

export interface BatchRow {
  batch: number;
  variant: string;
  /** Per launch. */
  flops: number;
  /** Of a launch: weights, inputs and outputs, each once. */
  bytes: number;
  /** Time per launch in each round. */
  launchNs: number[];
  /** Checksum of a layer's outputs. */
  checksum: string;
}

export interface BatchScaling {
  /** Why nothing was measured; null: it was. */
  unsupported: string | null;
  n: number;
  k: number;
  layers: number;
  batches: BatchRow[];
  streamBytes: number;
  /** Of reading them, several times. */
  streamNs: number[];
  /** 2 × clock × width of the memory's bus. */
  memoryCeilingGbs: number | null;
  /** Under the load of the largest batch; null if NVML does not report it. */
  smClockMhz: number | null;
}

// Bursts of launches

export type BurstCall = 'cuLaunchKernel' | 'cuLaunchKernelEx' | 'cuGraphLaunch';

export interface BurstRequest {
  call: BurstCall;
  /** Of a burst, over all threads. */
  launches: number;
  /** Kernels of a launch; above 1 for graphs alone. */
  nodes: number;
  /** That launch at the same time; 1: the measurement's own. */
  threads: number;
  /** Of each thread, in turn. */
  streams: number;
  bursts: number;
  /** Launches of each thread before the first burst. */
  warmup: number;
  /** The processor to use, as a position among those that the thread may use. */
  core: number;
}

export interface LaunchBursts {
  /** Of a burst. */
  kernels: number;
  /** Of each burst: from the first call until every wait has returned. */
  totalNs: Float64Array;
  /** Until the last launch call has returned. */
  submitNs: Float64Array;
  /** Of a kernel of a graph, by the device's clock; null of other calls. */
  deviceNs: number | null;
  /** The processor it was on; null with several threads or where none could be chosen. */
  core: number | null;
}

// Clocks

export interface TimeFunction {
  name: string;
  owner: string | null;
  /** It is libc's, with the code of its file. */
  own: boolean;
}

/** What passed since the addon was loaded: by libc's function, the raw system call and the processor's counter. */
export interface ClockRate {
  clock: string;
  libraryNs: number;
  systemNs: number;
  /** Null if the counter cannot be used, for the reason in `counterUnused`. */
  counterNs: number | null;
  /** Time between two readings of the same moment. */
  bracketNs: number;
}

export interface ClockReading {
  /** The owners of the functions with which the process reads time. */
  functions: TimeFunction[];
  rates: ClockRate[];
  counterUnused: string | null;
}

export interface TimerCalibration {
  /** Smallest non-zero difference of two readings. */
  resolutionNs: number;
  /** Median of a pair of readings with nothing between. */
  pairCostNs: number;
}

// Copies between host and device

export type CopyWay =
  | 'cuMemcpyHtoDAsync'
  | 'cuMemcpyDtoHAsync'
  | 'cuMemcpyBatchAsync to the device'
  | 'cuMemcpyBatchAsync to the host'
  | 'both directions at once'
  | 'stores of a kernel';

export interface CopyRateRequest {
  way: CopyWay;
  /** Of a copy: a multiple of 4. */
  bytes: number;
  /** Of a sample, one behind the other, to memory side by side. */
  copies: number;
  count: number;
  warmup: number;
  /** Of what is copied. */
  seed: number;
}

export interface CopyRate {
  /** Of each sample, by the device's events. */
  deviceNs: Float64Array;
  /** The NUMA node of the thread and the host's memory; null: bound to none. */
  node: number | null;
}

export type CopySource = 'cuMemHostAlloc' | 'mmap' | 'cuMemHostRegister';

export interface SourceCopiesRequest {
  source: CopySource;
  /** Of a copy: a multiple of 4. */
  bytes: number;
  count: number;
  warmup: number;
  /** Of what is copied. */
  seed: number;
}

export interface SourceCopies {
  /** Of each copy, by the host's clock. */
  copyNs: Float64Array;
  /** Of the one call that pinned the memory; null: it is not pinned. */
  pinNs: number | null;
  pinnedBytes: number;
  node: number | null;
}

export interface PcieLinkRequest {
  /** Of each copy that keeps the link busy. */
  bytes: number;
  seed: number;
}

/** As NVML reports it, null where it does not. */
export interface PcieLink {
  /** Now, as the width. */
  generation: number | null;
  width: number | null;
  /** Of device and slot together, as the width. */
  maxGeneration: number | null;
  maxWidth: number | null;
  /** Copies were under way when it was read. */
  underLoad: boolean;
}

// Decoders

export interface DecoderShape {
  layers: number;
  hidden: number;
  heads: number;
  kvHeads: number;
  mlp: number;
  vocabulary: number;
}

/** Sizes that are all 0 follow from the memory's limit. */
export interface DecoderRequest extends DecoderShape {
  /** Memory limit for default sizes; 0: the memory of the device. */
  limitBytes: number;
  /** Sequences that decode together. */
  batch: number;
  /** Tokens of each. */
  prompt: number;
  /** Tokens that are made of each. */
  output: number;
  /** Of weights and prompts. */
  seed: number;
}

export interface PreparedDecoder extends DecoderShape {
  /** That a step reads. */
  weightBytes: number;
  /** Size of keys and values. */
  cacheBytes: number;
  /** L2 cache of the device; 0: unknown. */
  l2Bytes: number;
  /** By its memory clock and bus width; 0: unknown. */
  dramCeilingGbs: number;
  /** Number per step. */
  launches: number;
  /** Variant of the matrix products of decode steps. */
  variant: string;
  /** Variant of the matrix products of prompts, and of their attention. */
  promptVariant: string;
  /** Whether a kernel begins before the previous one ends (programmatic dependent launch). */
  overlaps: boolean;
  /** Of a small decoder on this device, against double precision: the largest difference of a logit. */
  referenceError: number;
}

export interface DecodeRequest {
  /** Steps as one captured graph. */
  graph: boolean;
  /** A time of `now`; starts at once if it has passed. */
  startAtNs: number;
  /** For how long requests are started and steps made; the first request is finished. */
  windowNs: number;
  /** At most this many; 0: as many as there is time for. */
  requests: number;
}

/** Times are relative to `startAtNs`. */
export interface Decoding {
  startedNs: number;
  endedNs: number;
  /** Per request: when its prompt was submitted. */
  firstAtNs: number[];
  /** How long after that its first token was visible. */
  firstTokenNs: number[];
  /** Per request: digest of its tokens and of all bits of its logits; 0 if the window ended before it. */
  digests: number[];
  /** Per further step: when it was submitted. */
  atNs: number[];
  /** How long after that its tokens were visible. */
  tokenNs: number[];
  /** Blocks of the matrix products and of prompt attention, counted by the device. */
  blocks: number;
}

export interface DecodeAttentionRequest {
  /** Sequences. */
  batch: number;
  /** Tokens of each. */
  context: number;
  heads: number;
  /** At most eight heads share one. */
  kvHeads: number;
  /** Head dimension: 64 or 128. */
  dimension: number;
  seed: number;
  /** Number of timed batches of launches. */
  batches: number;
  /** Minimum per batch. */
  leastLaunches: number;
  /** Minimum per batch. */
  leastNs: number;
}

export interface DecodeAttentionRate {
  /** Size of the keys and values that a launch reads. */
  bytes: number;
  /** Parts of a context. */
  splits: number;
  /** One a batch. */
  launchNs: number[];
  /** Of sampled heads, against double precision. */
  referenceError: number;
}

// Detection of faults

export type FaultKind = 'outOfBounds' | 'misaligned' | 'trap' | 'assert';

export type FaultWait = 'query' | 'synchronize';

export interface FaultDetectionRequest {
  fault: FaultKind;
  /** Whether the host asks again and again, or waits inside a call. */
  wait: FaultWait;
}

export interface MappingQuality {
  /** Root mean square of the tightest exchanges about the fitted line. */
  residualNs: number;
  bracketNs: number;
  driftPpm: number;
  tickNs: number;
}

export interface FaultDetection {
  /** Of the first call that told of an error; 0: none did within a second. */
  code: number;
  name: string;
  /** Whether the kernel noted the time at which it failed. */
  stamped: boolean;
  /** From that time until the call returned. */
  latencyNs: number;
  /** From that time until the launch call had returned, usually before it. */
  submittedNs: number;
  /** Calls before that one which said that the kernel had ended well. */
  successes: number;
  mapping: MappingQuality;
}

// Discovery

export interface Target {
  /** Folder of the simulated libraries, or null for the machine's own driver. */
  simulatedDriver: string | null;
}

export interface DiscoveryRequest extends Target {
  /** Warm passes after the first. */
  repeats: number;
}

export interface DiscoveryFunction {
  name: string;
  owner: string | null;
  intercepted: boolean;
}

export interface DiscoveryPass {
  totalNs: number;
  /** A step asked of every GPU is the sum over them. */
  stepsNs: number[];
}

export interface Discovery {
  /** dlopen of NVML and resolving its functions. */
  loadNs: number;
  /** One per step, in the order of `stepsNs`, as dlsym gave them. */
  functions: DiscoveryFunction[];
  first: DiscoveryPass;
  repeats: DiscoveryPass[];
  /** UUIDs of the GPUs found. */
  uuids: string[];
}

// Driver and layers

export interface DriverProbeRequest {
  timeoutMs: number;
}

export interface DriverProbe {
  path: string | null;
  error: string | null;
  /** It exists, but a process that loads it crashes or hangs; `error` describes how. */
  fatal: boolean;
}

export interface FailedCall {
  code: number;
  name: string;
  call: string;
}

export interface NativeDevice {
  index: number;
  uuid: string;
  name: string;
  memoryBytes: number;
  /** As cuDeviceTotalMem reports it to this process; a layer may change it. */
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

export interface Inspection {
  simulated: boolean;
  libcuda: string;
  libnvidiaMl: string | null;
  driverVersion: string | null;
  cudaVersion: number | null;
  /** Set if the library exists but was refused. */
  cuda: FailedCall | null;
  nvml: FailedCall | null;
  devices: NativeDevice[];
  /** `judgeClock` (clock.ts) says whether times taken in that process may be published. */
  clock: ClockReading;
}

/** The owner of the address of a function on each symbol path. */
export interface CudaOwners {
  runtime: string | null;
  dlsym: string | null;
  linked: string | null;
  bare: string | null;
}

/** The beginning of a driver function differs from the file it was mapped from. */
export interface PatchedCode {
  /** Bytes in memory, hexadecimal. */
  bytes: string;
  /** The object that contains the target of the jump at its beginning; null without a jump, or if no object contains its target. */
  owner: string | null;
}

export interface CudaFunction {
  name: string;
  owners: CudaOwners;
  patched?: PatchedCode;
}

export interface NvmlOwners {
  dlsym: string | null;
  bare: string | null;
}

export interface NvmlFunction {
  name: string;
  owners: NvmlOwners;
  patched?: PatchedCode;
}

export interface MappedObject {
  path: string;
  cudaExports: number;
  exportsDlsym: boolean;
  exportsInit: boolean;
}

export interface LibcudaInfo {
  /** The file that the process gets as libcuda.so.1. */
  loaded: string;
  /** The driver itself: another file if libcuda.so.1 was replaced by one that forwards to it. */
  driver: string;
  simulated: boolean;
  /** Version of the NVIDIA kernel module; null if unknown. */
  kernelModule: string | null;
  /** Whether `driver` is of that version; null if unknown. */
  carriesKernelVersion: boolean | null;
}

export interface Provenance {
  functions: CudaFunction[];
  nvml: NvmlFunction[];
  /** Objects mapped into the process that export `dlsym` or names beginning with `cu`, drivers and libc aside. */
  objects: MappedObject[];
  /** Why the driver's code was not compared with its file; null if it was. */
  codeUnreadable: string | null;
  libcuda: LibcudaInfo;
}

// Dynamic batching

export interface DynamicBatchingRequest {
  /** A time of `now`; starts at once if it has passed. */
  startAtNs: number;
  /** In which sequences arrive. */
  windowNs: number;
  /** For how long after the window those are still served. */
  graceNs: number;
  /** After which the window ends early; 0: it does not. */
  mostSteps: number;
  /** At most 64. */
  mostBatch: number;
  /** Sequences; 0: `load` of the capacity. */
  arrivalsPerS: number;
  /** Share of the capacity, which is measured before the start. */
  load: number;
  /** As in BatchScalingRequest. */
  n: number;
  k: number;
  layers: number;
  /** Seed of weights, inputs and arrivals. */
  seed: number;
}

/** Times are relative to `startAtNs`. */
export interface DynamicBatching {
  /** Why nothing was measured; null: it was. */
  unsupported: string | null;
  variant: string;
  n: number;
  k: number;
  layers: number;
  /** Sequences, in steps of the largest batch; null if arrivals were given. */
  capacityPerS: number | null;
  arrivalsPerS: number;
  startedNs: number;
  endedNs: number;
  /** Sequences that arrived. */
  offered: number;
  served: number;
  /** When each step began. */
  stepAtNs: number[];
  /** From before its first launch until the host knew that it was over. */
  stepNs: number[];
  /** Sequences in it. */
  stepBatch: number[];
  /** How long sequences waited for their step to begin: each, or at most 20000 evenly chosen ones. */
  queueNs: number[];
}

// Errors of a GPU

export interface XidRequest extends Target {
  uuid: string;
}

export interface XidWatch {
  /** Why NVML cannot; null if it can. */
  unsupported: string | null;
}

/** An error of the GPU that the kernel module reported. */
export interface XidEvent {
  /** Time of `now` when it was read. */
  atNs: number;
  /** Which error, as NVIDIA numbers them: 31 is a memory page fault. */
  xid: number;
}

// Faults

export interface FaultRequest {
  fault: FaultKind;
}

/** What the driver said when it was waited for the faulty kernel. */
export interface FaultAnswer {
  code: number;
  name: string;
}

export interface EndlessKernel {
  blocks: number;
}

export interface StormRequest {
  /** Of an allocation. */
  bytes: number;
  forMs: number;
}

export interface Storm {
  allocations: number;
}

export interface HoardRequest {
  /** After these it asks for more memory than any card has. */
  mostBytes: number;
}

export interface Hoard {
  /** That were granted. */
  bytes: number;
  /** Result of the refused allocation; 0 if none was refused. */
  code: number;
  name: string;
}

export interface RoundsRequest {
  /** Of the block that a round allocates, fills, reads back and frees. */
  bytes: number;
  forMs: number;
}

/** Times are as `now` says them. */
export interface VerifiedRounds {
  rounds: number;
  /** Rounds with a wrong result. */
  wrong: number;
  beganNs: number;
  /** End of the last round. */
  endedNs: number;
  /** Without a verified round, from the begin on. */
  longestGapNs: number;
}

// Independent streams

export interface ConcurrencyRequest {
  streams: number;
  /** Of each stream, one behind the other. */
  kernels: number;
  /** Duration of a kernel alone to aim for. */
  kernelNs: number;
  /** Of arithmetic in a kernel; 0: as many as kernelNs takes, which is tried out. */
  rounds: number;
  runs: number;
}

/** By the device's clock, a value a run. */
export interface StreamConcurrency {
  rounds: number;
  /** Of a kernel, one a multiprocessor. */
  blocks: number;
  /** A kernel that had the device to itself. */
  aloneNs: Float64Array;
  /** The median kernel of the run. */
  kernelNs: Float64Array;
  /** From the first start to the last end. */
  spanNs: Float64Array;
  /** Kernels that ran at the same time in that span, on average. */
  mean: Float64Array;
  /** And at most. */
  most: Float64Array;
}

// Launches

export type LaunchCall = 'cuLaunchKernel' | 'cuLaunchKernelEx' | 'cuGraphLaunch';

export interface LaunchRequest {
  call: LaunchCall;
  count: number;
  warmup: number;
  seed: number;
  /** The processor to use, as a position among those that the thread may use. */
  core: number;
}

export interface LaunchBlock {
  submitNs: Float64Array;
  startNs: Float64Array;
  roundTripNs: Float64Array;
  /** The processor it was on; null if the system does not let threads choose. */
  core: number | null;
  mapping: MappingQuality;
}

// Launches at a pace

export type PacedCall = 'cuLaunchKernel' | 'cuLaunchKernelEx' | 'cuGraphLaunch' | 'cuLaunchCooperativeKernel';

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
  /** The processor to use, as a position among those that the thread may use. */
  core: number;
}

export interface PacedLaunches {
  /** The call alone, one a launch. */
  tookNs: number[];
  /** Places of those during which the scheduler gave the processor to others. */
  preempted: number[];
}

// Layer

export interface LayerProbeRequest {
  /** Bytes of each. */
  allocations: number[];
}

export interface TriedAllocation {
  bytes: number;
  code: number;
}

export interface LayerProbe {
  visibleTotalBytes: number | null;
  visibleFreeBytes: number | null;
  /** HAMi-core's own `pidfound`, and its limits as its functions say them; null under anything else. */
  pidFound: boolean | null;
  memoryLimitBytes: number | null;
  smPercent: number | null;
  allocations: TriedAllocation[];
}

// Leftover memory

export type Surface =
  | 'cuMemAlloc'
  | 'cuMemAllocAsync'
  | 'cuMemCreate'
  | 'cuMemAllocManaged'
  | 'cuArrayCreate'
  | 'cuMemHostAlloc'
  | 'shared memory'
  | 'local memory'
  | 'registers';

/** A tag and its mark have 32 digits of base 16. */
export interface SurfaceRequest {
  surface: Surface;
  /** The tag to look for. */
  mark: string;
  /** The tag, which is written before; empty: nothing is written. */
  fill: string;
  /** Of memory. */
  mostBytes: number;
  /** On-chip memory: repeated for this time. */
  forMs: number;
}

export interface SurfaceFound {
  /** That were scanned. */
  bytes: number;
  taggedBytes: number;
  /** Neither the tag nor zero. */
  otherBytes: number;
  /** Why nothing could be scanned; null if it could. */
  unsupported: string | null;
}

export interface Released {
  bytes: number;
}

export interface TenantMemory {
  freeBytes: number;
  totalBytes: number;
}

export interface BaitRequest {
  tag: string;
}

export interface Bait {
  /** Hexadecimal, of a block that is not shared. */
  address: string;
  /** Likewise, of a block that the victim shares. */
  ipcHandle: string | null;
  /** Handle of a block that it shared and has since freed. */
  staleHandle: string | null;
  /** Descriptor of a shareable handle, in the victim's process; -1: it could not be created. */
  descriptor: number;
  /** Size of each block. */
  bytes: number;
  /** The least that the victim's own scan of a block found. */
  taggedBytes: number;
  /** Why there are no handles; null: there are. */
  noIpc: string | null;
  noDescriptor: string | null;
}

export interface AttackRequest {
  attack: 'ipcHandle' | 'descriptor' | 'address';
  /** A handle, an address, or PID:DESCRIPTOR. */
  target: string;
  mark: string;
  bytes: number;
}

export interface AttackAnswer {
  /** Result of the call that was refused; 0: none was. */
  code: number;
  name: string;
  taggedBytes: number;
  otherBytes: number;
}

// Loads of tenants

export type LoadCall =
  | 'cuLaunchKernel'
  | 'cuLaunchKernelEx'
  | 'cuGraphLaunch'
  | 'cuLaunchCooperativeKernel'
  | 'cuLaunchKernel_ptsz'
  | 'cuGraphLaunch_ptsz';

export interface LoadRequest {
  /** With `_ptsz`: as cuGetProcAddress gives it for per-thread default streams, in the thread's. */
  call: LoadCall;
  /** Kernels of a launch; above 1 for graphs alone. */
  nodes: number;
  /** For each multiprocessor that the tenant sees; 0: as many as run at once, which a cooperative launch needs. */
  blocksPerMultiprocessor: number;
  /** Number in the whole kernel, instead of `blocksPerMultiprocessor`; 0: not set. */
  blocks: number;
  threadsPerBlock: number;
  /** Of a block; 0: as many as make a kernel of about `kernelNs`, measured before the start. Tenants that are compared get the `rounds` that one of them measured alone and without a limit. */
  rounds: number;
  /** About how long a kernel takes alone on the GPU. */
  kernelNs: number;
  /** Most launches in flight; 1: each is waited for with cuStreamSynchronize. */
  inFlight: number;
  /** A time of `now`; starts at once if it has passed. */
  startAtNs: number;
  /** By the device's clock or the host's, whichever passes first. */
  durationNs: number;
  binNs: number;
  /** The shortest time between two kernels that is listed. */
  gapNs: number;
  /** Maximum number of gaps, kernels and calls; the latest are kept. */
  mostListed: number;
}

/** Of the device's time, in ns from the beginning of the first bin. */
export interface Stretches {
  atNs: number[];
  tookNs: number[];
}

/** Work is in rounds times blocks: its amount does not depend on how long it took. */
export interface Load {
  /** Of a block, as done. */
  rounds: number;
  blocks: number;
  /** That the tenant sees. */
  multiprocessors: number;
  /** On which a block ended (%smid). */
  multiprocessorsUsed: number[];
  launches: number;
  kernels: number;
  work: number;
  /** Number of the first bin: bin i begins at i * binNs of %globaltimer, so bins of tenants of one GPU compare by their numbers. */
  firstBin: number;
  /** When the first bin begins by the host's clock, relative to `startAtNs`, to half of `hostBracketNs`. */
  hostOriginNs: number;
  hostBracketNs: number;
  /** Work that was done in each; the first and last are of a part of their time. */
  bins: number[];
  /** The first kernel's start, in ns from the beginning of the first bin. */
  startedNs: number;
  /** The last kernel's end, likewise. */
  endedNs: number;
  /** Between the two, while a kernel ran. */
  busyNs: number;
  /** When the first launch call was made, relative to `startAtNs`. */
  hostStartedNs: number;
  /** Times of at least `gapNs` between two kernels. */
  gaps: number;
  gapsListed: Stretches;
  kernelsListed: Stretches;
  /** How long the latest launch calls took. */
  callsNs: number[];
  /** Most launches in flight when a launch call returned. */
  mostInFlight: number;
}

// Matrix products

export type GemmFormats = 'all' | 'fp32';

export interface GemmRatesRequest {
  formats: GemmFormats;
  /** Side of all three matrices, a multiple of 16. */
  side: number;
  /** In each, a batch of launches of every format. */
  rounds: number;
  /** Minimum per batch. */
  leastLaunches: number;
  /** Minimum per batch. */
  leastNs: number;
  /** Seed of the inputs and of the choice of elements in the checksum. */
  seed: number;
}

export type NumberFormat = 'fp16' | 'bf16' | 'fp32' | 'fp8 e4m3';

export interface GemmRate {
  number: NumberFormat;
  /** Why the device has no kernel for it; then nothing follows. */
  unsupported: string | null;
  variant: string;
  launchFlops: number;
  /** Size of the three matrices, each counted once. */
  launchBytes: number;
  /** Time per launch in each batch. */
  launchNs: Float64Array;
  /** In a batch. */
  launches: number;
  /** The highest reading while launches ran; null if NVML cannot report it. */
  smClockMhz: number | null;
  /** Elements compared with double precision. */
  sampled: number;
  /** Largest error of those elements, relative to the square root of the side. */
  worstError: number;
  /** Checksum of the elements that the seed chose. */
  checksum: string;
}

export interface GemmRates {
  computeCapability: string;
  multiprocessors: number;
  rates: GemmRate[];
}

// Memory limits

export type MemoryPath =
  | 'cuMemAlloc_v2'
  | 'cuMemAllocPitch_v2'
  | 'cuMemAllocManaged'
  | 'cuMemCreate'
  | 'cuMemCreate, handle released'
  | 'cuMemAllocAsync'
  | 'cuMemAllocFromPoolAsync'
  | 'cuArrayCreate_v2'
  | 'cuArray3DCreate_v2'
  | 'cuMipmappedArrayCreate'
  | 'graph memory node'
  | 'imported shareable handle'
  | 'module global'
  | 'many small blocks'
  | 'pinned host memory';

export interface MemoryFillRequest {
  path: MemoryPath;
  /** Maximum for this call. */
  mostBytes: number;
  /** Size of the first block; halved if it is refused. */
  firstBytes: number;
  smallestBytes: number;
  mostBlocks: number;
  /** Left free on the card. */
  spareBytes: number;
}

/** A code that a call answered, and the smallest request that it met. */
export interface Refusal {
  code: number;
  name: string;
  call: string;
  bytes: number;
}

export interface MemoryFill {
  grantedBytes: number;
  blocks: number;
  /** `enough` and `blocks`: as the request bounds it; `spare`: the card has no more to give away. */
  end: 'refused' | 'enough' | 'blocks' | 'spare';
  refusals: Refusal[];
  /** Why the granted allocation has no memory of its own; null if it contains what was written to it. */
  noMemory: string | null;
  tookNs: number;
}

export interface MemoryChurnRequest {
  path: MemoryPath;
  /** Of all blocks, before any is freed. */
  fillBytes: number;
  /** Of a block, whose size is log-uniform. */
  smallestBytes: number;
  largestBytes: number;
  /** Further allocations and frees at random. */
  turnover: number;
  /** In the end random blocks are freed until no more than this is held. */
  keepBytes: number;
  /** Only what is left in the end is allocated, and nothing is freed. */
  compact: boolean;
  /** After which it ends wherever it is. */
  mostNs: number;
  seed: number;
}

export interface MemoryChurn {
  /** That are held in the end. */
  blocks: number;
  heldBytes: number;
  /** Allocations and frees. */
  operations: number;
  tookNs: number;
  timedOut: boolean;
  refusals: Refusal[];
  noMemory: string | null;
}

export interface LargestBlockRequest {
  path: MemoryPath;
  /** In which it is looked for. */
  freeBytes: number;
  /** Tried first, and expected to be refused; 0: nothing is. */
  beyondBytes: number;
  granuleBytes: number;
  mostProbes: number;
  mostNs: number;
}

export interface LargestBlock {
  /** 0: not even a granule. */
  bytes: number;
  /** The smallest request that was refused; null: none was. */
  refusedBytes: number | null;
  probes: number;
  /** To the granule, before the limits of probes and time. */
  decided: boolean;
  /** It was granted a second time. */
  again: boolean;
  /** What lies beyond the free memory was granted. */
  beyond: boolean;
  noMemory: string | null;
  /** The code of the last one. */
  refusal: string | null;
}

export interface MemoryReleased {
  blocks: number;
  /** The code of an allocation like the latest one, after that was freed. */
  again: number | null;
  /** Errors of frees. */
  failures: Refusal[];
}

export interface RefusalsRequest {
  path: MemoryPath;
  bytes: number;
  count: number;
  /** After the first 20, no further one starts once this time has passed. */
  mostNs: number;
}

export interface OtherCode {
  code: number;
  name: string;
  count: number;
}

export interface Refusals {
  /** Time of calls that returned CUDA_ERROR_OUT_OF_MEMORY. */
  refusedNs: number[];
  /** Each was freed at once; some of them end the attempt. */
  granted: number;
  others: OtherCode[];
}

export interface ExportedMemory {
  handles: string;
  bytes: number;
}

export interface ImportRequest {
  handles: string;
}

export interface ReportedSizes {
  source: string;
  /** 0 if it succeeded. */
  code: number;
  totalBytes: number | null;
  usedBytes: number | null;
  freeBytes: number | null;
}

export interface GpuProcess {
  pid: number;
  usedBytes: number | null;
  /** Null if NVML has no list of MPS clients. */
  mpsClient: boolean | null;
}

export interface ReportedMemory {
  sizes: ReportedSizes[];
  processes: GpuProcess[] | null;
  multiprocessors: number | null;
  /** As reported by the driver itself. */
  bareMultiprocessors: number | null;
}

// Memory of language models

export type PageMode = 'cuMemCreate' | 'cuMemAllocAsync';

export interface PageRoundsRequest {
  mode: PageMode;
  pages: number;
  rounds: number;
}

export interface PageRounds {
  pageBytes: number;
  /** Time of each round, for all its pages. */
  commitNs: Float64Array;
  /** Time of each page of each round. */
  pageNs: Float64Array;
  /** Time of each round, for all its pages. */
  releaseNs: Float64Array;
  /** By this process, on the device; null if NVML cannot report it. */
  usedBefore: number | null;
  usedAfter: number | null;
}

export interface PoolPairsRequest {
  api: AllocationApi;
  bytes: number;
  count: number;
  warmup: number;
  /** Size of the pool before the first pair; 0: unchanged. */
  warmBytes: number;
}

/** Of the default pool; null for what it does not report. */
export interface PoolState {
  /** Above 2^53 not exact. */
  thresholdBytes: number | null;
  usedBytes: number | null;
  reservedBytes: number | null;
}

export interface PoolPairs {
  allocNs: Float64Array;
  freeNs: Float64Array;
  /** Around all pairs and their preparation. */
  before: PoolState;
  after: PoolState;
}

export interface PoolRefusalRequest {
  api: AllocationApi;
  bytes: number;
}

export interface PoolRefusal {
  granted: boolean;
  /** The driver's, of the code. */
  name: string;
  /** Result of the request, or of waiting for it. */
  code: number;
  before: PoolState;
  after: PoolState;
}

export interface LargeAllocationRequest {
  api: AllocationApi;
  bytes: number;
  seed: number;
}

export interface LargeAllocation {
  bytes: number;
  allocNs: number;
  /** Filling all of it, until completion. */
  touchNs: number;
}

export interface LargeFree {
  freeNs: number;
}

// Monitors of GPUs

export interface ListedGpu {
  index: number;
  uuid: string;
  name: string;
  simulated: boolean;
}

export interface MonitorId {
  monitor: number;
}

export interface MonitorRequest extends Target {
  uuid: string;
  intervalNs: number;
}

export interface ProcessSample {
  pid: number;
  usedBytes: number | null;
  /** Whether NVML lists it as a client of MPS; null if it has no such list or lists no context of it. */
  mpsClient: boolean | null;
  /** Per cent of NVML's last sampling period in which a kernel of the process ran; null if NVML listed none in the last second. */
  smPercent: number | null;
  /** The same, in which it accessed memory. */
  memoryPercent: number | null;
}

/** What NVML says of a GPU at one time; null for what it does not say. */
export interface CardSample {
  /** Time of `now` before NVML was asked. */
  atNs: number;
  /** Per cent of NVML's last sampling period in which a kernel ran, or memory was accessed. */
  gpuPercent: number | null;
  memoryPercent: number | null;
  /** Including what the driver reserves. */
  usedBytes: number | null;
  totalBytes: number | null;
  powerW: number | null;
  /** Since the driver was loaded. */
  energyJ: number | null;
  temperatureC: number | null;
  smClockMhz: number | null;
  memoryClockMhz: number | null;
  /** Bytes a second, over 20 ms of the interval. */
  pcieReceived: number | null;
  pcieSent: number | null;
  /** Bytes a second, of all links, since the sample before; null in the first one. */
  nvlinkReceived: number | null;
  nvlinkSent: number | null;
  /** Bits of nvmlDeviceGetCurrentClocksEventReasons. */
  eventReasons: number | null;
  /** Those with a context, or with work in the last second. */
  processes: ProcessSample[];
}

export interface MissingValue {
  /** NVML function; in parentheses, which of its values. */
  call: string;
  reason: string;
  /** In which the value is missing. */
  samples: number;
}

export interface MonitorReport {
  /** Those since the last report, oldest first. */
  samples: CardSample[];
  /** All samples so far. */
  taken: number;
  /** Intervals without a sample, because the one before took too long. */
  missed: number;
  /** Samples that no report took before there were too many to keep. */
  lost: number;
  missing: MissingValue[];
}

// Pairs of allocations

export interface AllocationPairRequest {
  /** Size of a block. */
  bytes: number;
  /** Blocks of either way, beside the one that is allocated and freed. */
  live: number;
  order: 'fifo' | 'lifo' | 'random';
  /** Samples of a visit: each is the mean of two allocations, and of two frees, of either way, in the order A B B A. */
  count: number;
  /** Further ones, before those of every visit. */
  warmup: number;
  /** Each to another processor. */
  visits: number;
  seed: number;
  /** The processor to use, as a position among those that the thread may use. */
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
  /** Median delay of the hook as measured by the calibration interposer; null if it is not loaded. */
  achievedNs: number | null;
}

export interface AllocationPairs {
  allocation: PairBlock;
  free: PairBlock;
}

// Pairs of calls

export interface PairRequest {
  name: string;
  /** Samples: each is the mean of two batches of either pointer, in the order A B B A. */
  batches: number;
  /** Most calls a batch; shortened so that two batches stay below maxBatchNs. */
  calls: number;
  maxBatchNs: number;
  /** Before each batch the host does other work for up to this long, at least a quarter of it. */
  gapNs: number;
  seed: number;
  /** The processor to use, as a position among those that the thread may use. */
  core: number;
}

// Pipelines

export interface PipelineRequest {
  stages: number;
  microBatches: number;
  /** Duration of a stage to aim for. */
  stageNs: number;
  /** Rounds of arithmetic in a stage; 0: as many as stageNs takes, which is measured. */
  rounds: number;
  runs: number;
  /** Stages before each run that run alone on the device. */
  alone: number;
}

/** A value a run. Times of stages by the device's clock, of a run by the host's. */
export interface PipelineRuns {
  rounds: number;
  /** Number per stage. */
  blocks: number;
  /** Median stage that ran alone on the device. */
  aloneNs: Float64Array;
  /** From the first launch until the host knew that the last stage was over. */
  runNs: Float64Array;
  /** From the beginning of the first stage to the end of the last. */
  deviceNs: Float64Array;
  /** Median stage of the run. */
  stageNs: Float64Array;
  /** Stages that ran at the same time, on average. */
  atOnce: Float64Array;
  /** Median time between the end of what a stage waits for and its beginning. */
  handoffNs: Float64Array;
}

// Requests

export interface RequestsRequest {
  /** A time of `now`; starts at once if it has passed. */
  startAtNs: number;
  windowNs: number;
  /** For how long after the window requests that arrived in it are still served. */
  graceNs: number;
  /** From one arrival to the next; 0: each when the previous one is done. */
  periodNs: number;
  /** Number per request, one after the other. */
  kernels: number;
  /** Of work in a kernel; 0: as many as make it last `kernelNs` alone. */
  rounds: number;
  kernelNs: number;
  /** That are copied to the host; a multiple of 4. */
  bytes: number;
}

/** Times are relative to `startAtNs`. */
export interface Requests {
  /** Of work in a kernel, as done. */
  rounds: number;
  startedNs: number;
  endedNs: number;
  /** Requests that arrived in the window. */
  offered: number;
  /** Arrival of each served request. */
  arrivedNs: number[];
  /** From its arrival until its result was there. */
  latencyNs: number[];
  /** From the start of its first kernel to the end of its last. */
  deviceNs: number[];
  /** At the end of the window; null if NVML does not report it. */
  smClockMhz: number | null;
}

// Sessions

export interface DeviceTarget extends Target {
  /** NVML index, UUID or its unambiguous beginning, or null for the first visible GPU. */
  device: number | string | null;
  path: 'runtime' | 'dlsym' | 'linked';
}

// Sets of live blocks

export interface LiveSetRequest {
  /** Size of a block. */
  bytes: number;
  /** Live blocks of each cell, beside the one its pairs allocate. */
  lives: number[];
  /** Pairs of a cell. */
  count: number;
  warmup: number;
  /** Pointers queried for one sample of `queryNs`; 0: none. */
  queries: number;
  seed: number;
  /** The processor to use, as a position among those that the thread may use. */
  core: number;
}

export interface LiveSetCell {
  live: number;
  /** One allocation and one free of a random live block, a pair. */
  allocNs: Float64Array;
  freeNs: Float64Array;
  /** Time of one cuPointerGetAttribute of a random live block. */
  queryNs: Float64Array;
}

// Several GPUs

export interface CommunicatorId {
  /** Why there is no NCCL; then nothing follows. */
  unsupported: string | null;
  /** The file. */
  library: string;
  version: string;
  /** In hexadecimal, for every rank. */
  id: string;
  /** Error of NCCL. */
  failure: string | null;
}

export interface JoinRequest {
  /** Result of makeCommunicatorId. */
  id: string;
  ranks: number;
  rank: number;
}

export interface Joined {
  /** Error of NCCL. */
  failure: string | null;
}

export interface ShardRequest {
  ranks: number;
  rank: number;
  tokens: number;
  /** Columns of the activations; a multiple of 16 times the ranks. */
  hidden: number;
  /** Columns between the projections of the MLP; likewise. */
  mlp: number;
  /** Of input and weights. */
  seed: number;
}

export interface PreparedShard {
  /** Variant of the matrix products. */
  variant: string;
  /** Per step, on this rank. */
  flops: number;
  /** Size on this rank. */
  weightBytes: number;
  /** That the all-reduces of a step add up. */
  reducedBytes: number;
}

export type StepKind = 'block' | 'all-reduces';

export interface StepsRequest {
  /** Which of the session's blocks. */
  ranks: number;
  kind: StepKind;
  steps: number;
  /** A time of `now`; starts at once if it has passed. */
  startAtNs: number;
}

/** Times are relative to `startAtNs`. */
export interface StepTimes {
  /** Error of NCCL. */
  failure: string | null;
  /** After an all-reduce with which all ranks begin. */
  beganNs: number;
  /** When the host knew that the last step was over. */
  endedNs: number;
  /** Between events around the steps. */
  deviceNs: number;
}

export interface SampleRequest {
  /** Which of the session's blocks. */
  ranks: number;
  /** Of the places. */
  seed: number;
}

export interface BlockSample {
  /** Number of elements compared with double precision. */
  elements: number;
  /** The largest difference, relative to what rounding allows. */
  worstAllowed: number;
  /** At places of both results, before the all-reduces. */
  parts: number[];
  /** After them. */
  sums: number[];
}

// Shares of compute

/** Whole numbers, above 0 but for `blocks`. */
export interface ComputeShareRequest {
  /** For how long the host launches, in milliseconds. */
  durationMs: number;
  /** Number per kernel; 0 asks for 1000 per multiprocessor of the device. */
  blocks: number;
  threadsPerBlock: number;
  /** For how long every block spins, in nanoseconds. */
  spinNs: number;
  /** Most launches in flight at any time. */
  inFlight: number;
  /** Length of one of `bins`, in milliseconds of the device's time. */
  binMs: number;
}

/** Shares are of 1, in the time the device itself stamps. */
export interface ComputeShare {
  launches: number;
  /** How long a kernel took at the median. */
  kernelNs: number;
  /** Share of the time from the first kernel's start to the last one's end. */
  busyShare: number;
  /** Share of each whole window of `binMs` from the first kernel's start; the time after the last one is left out. */
  bins: number[];
}

// Start of a process

export type ContextApi = 'cuDevicePrimaryCtxRetain' | 'cuCtxCreate';

export interface StartUpRequest extends DeviceTarget {
  contextApi: ContextApi;
  /** How often the primary context is released and retained again after the start. */
  recreations: number;
  /** A time of `now` to wait for before libcuda is searched; null, or a time that has passed, starts at once. */
  startAtNs: number | null;
  /** The context stays until the process ends, as that of a program at work does; nothing is re-created. */
  keep: boolean;
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
  /** Times of `now`: the request is there; the start begins; the first result is on the host. */
  readyAtNs: number;
  beganAtNs: number;
  firstResultAtNs: number;
  /** Time for the context that did the work; null if it is kept. */
  firstReleaseNs: number | null;
  resultCorrect: boolean;
  contextFunction: string;
  contextOwner: string | null;
  loadingMode: 'eager' | 'lazy' | null;
  /** When the driver's device files were opened; `process start`: before libcuda was looked for. */
  initialisedAt: 'process start' | 'load' | 'look-up' | 'cuInit' | 'unknown';
  /** The object whose functions a program gets instead of the driver's, or of libc's dlsym. */
  interposer: string | null;
  /** Whether the primary context existed before it was retained; null if the driver does not report it. */
  contextWasActive: boolean | null;
  /** PIDs in NVML's list while the context existed and after its release; null if NVML cannot report them. */
  processesDuring: number[] | null;
  processesAfter: number[] | null;
  /** Free memory of the GPU according to NVML, at the same times. */
  gpuFreeDuringBytes: number | null;
  gpuFreeAfterBytes: number | null;
  pid: number;
  retainNs: number[];
  releaseNs: number[];
  /** Whether cuDevicePrimaryCtxGetState reported inactive after every release. */
  inactiveBetween: boolean;
  /** Whether this process left NVML's list after every release; null if NVML cannot report it. */
  leftListBetween: boolean | null;
  /** NVML lists an MPS client until its process ends, even if its context is destroyed. */
  mpsClient: boolean;
}

// State of a GPU

export type GpuDetail = 'readings' | 'all';

export interface GpuStateRequest extends Target {
  uuid: string;
  /** Only what changes continuously and is cheap to query (the rest is null), or everything. */
  detail: GpuDetail;
}

/** What NVML reports about a GPU; null for what it does not. */
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
  processes: GpuProcess[] | null;
}

export interface UtilizationRequest extends Target {
  uuid: string;
  /** Time of the host's clock since 1970; older samples of processes are left out. */
  sinceUs: number;
}

export interface ProcessUtilization {
  pid: number;
  smPercent: number;
  atUs: number;
}

/** Per cent of NVML's last sampling period in which a kernel ran. */
export interface GpuUtilization {
  gpuPercent: number | null;
  /** Processes that used the GPU; null if NVML does not report them. */
  processes: ProcessUtilization[] | null;
}

export type Scheduling = 'auto' | 'spin' | 'yield' | 'blocking';

export interface VisibleMemory {
  freeBytes: number | null;
  totalBytes: number | null;
}

// This description

export interface DescribedField {
  name: string;
  type: string;
  doc: string;
  optional: boolean;
}

export interface DescribedType {
  name: string;
  doc: string;
  base: string | null;
  /** Type for which this is another name; null for an interface. */
  text: string | null;
  fields: DescribedField[];
}

export interface DescribedFunction {
  name: string;
  signature: string;
  doc: string;
}

export interface DescribedTopic {
  heading: string;
  types: DescribedType[];
  functions: DescribedFunction[];
}

// Traces of blocks

export interface BlockTraceRequest {
  /** A time of `now`; starts at once if it has passed. */
  startAtNs: number;
  windowNs: number;
  /** For how long every block watches the timer. */
  spinNs: number;
  /** A block that does not see the timer for longer did not run. */
  gapNs: number;
  /** Of a kernel; 0: two a multiprocessor. */
  blocks: number;
  /** Kernels queued at most; 0: enough for a host that is held up. */
  inFlight: number;
}

/** Stretches of a multiprocessor during which a block of the tenant ran on it; those less than `gapNs` apart are one. */
export interface BlockTrace {
  /** Time of the device's clock from which the other times count. */
  originMs: number;
  multiprocessor: number[];
  fromNs: number[];
  toNs: number[];
  blocks: number;
}

// Two contexts of a process

export interface AlternationRequest {
  /** Launches of each kind. */
  count: number;
}

/** From cuCtxSetCurrent to the return of the launch behind it. */
export interface ContextAlternation {
  /** In the other context than the launch before. */
  alternatingNs: number[];
  /** In the same one, which is made current again. */
  stayingNs: number[];
}

// Units of work

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

// Waits for a busy device

export interface StartDelayRequest {
  /** As `now` says it; a time that has passed starts at once. */
  startAtNs: number;
  /** In which kernels are launched, one in flight. */
  windowNs: number;
  /** From one call to the next. */
  periodNs: number;
  /** By how much a call is earlier or later at most; below the period. */
  jitterNs: number;
  /** Behind the window, before the clocks are mapped again. */
  quietNs: number;
  seed: number;
  /** Of the blocks of kernels that this process keeps queued beside; 0: none. */
  holdNs: number;
  /** How many of them. */
  queued: number;
  /** Whether the small kernel's stream has the highest priority, the other the lowest. */
  prioritised: boolean;
}

export interface StartDelays {
  /** Of the device's clock. */
  originMs: number;
  /** When each launch was called, by the device's clock, from there. */
  calledNs: number[];
  /** From the call to the kernel's first instruction. */
  delayNs: number[];
  /** Kernels of this process that were not over at the call. */
  ahead: number[];
  mapping: MappingQuality;
}

// Windows of tenants

export interface WindowRequest {
  /** `launch` is timed without the synchronisation that follows it; `allocFree` is both calls. */
  operation: 'allocFree' | 'memGetInfo' | 'launch';
  /** Size of an allocation; 0 asks for the granularity. */
  bytes: number;
  /** A time of `now`; starts at once if it has passed. */
  startAtNs: number;
  windowNs: number;
  warmup: number;
  /** Maximum number; of more operations, only every second, fourth, … is kept. */
  mostSamples: number;
}

/** Times are relative to `startAtNs`. */
export interface TenantWindow {
  startedNs: number;
  endedNs: number;
  operations: number;
  /** For allocations: how often two blocks were written and read back, in addition to the operations. */
  verified: number;
  /** Device memory of this process; null if NVML cannot report it, and for other operations. */
  usedBefore: number | null;
  usedAfter: number | null;
  /** When a sample's operation began, and how long it took. */
  atNs: Float64Array;
  tookNs: Float64Array;
}

export interface NativeAddon {
  /** Keeps one shared resource of the device busy for a time; rejects where the device did not do what the driver accepted. */
  aggressor(session: number, request: AggressorRequest): Promise<Aggression>;
  /** Operations of the aggressor of this process that were seen to finish so far. */
  attackOperations(): number;
  /** The aggressor that runs in this process ends at once, as at the end of its window. */
  endAttack(): void;
  allocationBlock(session: number, request: AllocationRequest): Promise<AllocationBlock>;
  freeBlock(session: number, request: FreeRequest): Promise<FreeBlock>;
  /** The code a second free of one pointer returns. */
  doubleFree(session: number): Promise<DriverCode>;
  /** Attention forward, repeated; rejects where a launch did not run or the output is wrong. */
  attention(session: number, request: AttentionRequest): Promise<AttentionRate>;
  /** Reads, writes or copies memory for a time, and says when the device did so. */
  streamWindow(session: number, request: StreamWindowRequest): Promise<StreamWindow>;
  /** How long reading, writing or copying a buffer takes that no cache holds. */
  stream(session: number, request: StreamRequest): Promise<StreamTimes>;
  /** How long a linear layer takes for each of several batch sizes, beside the memory's own rate; rejects where outputs are wrong. */
  batchScaling(session: number, request: BatchScalingRequest): Promise<BatchScaling>;
  /** Launches one behind the other without a wait in between, and one wait at their end. */
  launchBursts(session: number, request: BurstRequest): Promise<LaunchBursts>;
  /** The clocks of this process, compared with the system call and the processor's counter since the addon was loaded. */
  clockReading(): ClockReading;
  /** CLOCK_MONOTONIC_RAW in nanoseconds, one timebase for all processes of a machine. */
  now(): number;
  timer(): TimerCalibration;
  copyRate(session: number, request: CopyRateRequest): Promise<CopyRate>;
  sourceCopies(session: number, request: SourceCopiesRequest): Promise<SourceCopies>;
  pcieLink(session: number, request: PcieLinkRequest): Promise<PcieLink>;
  /** Keeps a synthetic decoder in the session; rejects where a small one's logits differ from double precision. */
  prepareDecoder(session: number, request: DecoderRequest): Promise<PreparedDecoder>;
  /** Serves requests one after the other with the session's decoder; rejects where a token does not come, or work was skipped. */
  decodeTokens(session: number, request: DecodeRequest): Promise<Decoding>;
  /** How fast decode attention reads a paged cache; rejects where sampled results are wrong. */
  decodeAttentionRate(session: number, request: DecodeAttentionRequest): Promise<DecodeAttentionRate>;
  /** Frees the session's decoder. */
  dropDecoder(session: number): Promise<void>;
  /** Launches a kernel that fails in a known way, and says how long after it the host is told. The context is lost. */
  detectFault(session: number, request: FaultDetectionRequest): Promise<FaultDetection>;
  /** How long finding all GPUs through NVML takes; the first pass is cold in a fresh process. */
  discovery(request: DiscoveryRequest): Promise<Discovery>;
  /** dlopen of libcuda.so.1 and nothing more, in a process of its own: where it was found, or why not. Blocks. */
  probeDriver(request: DriverProbeRequest): DriverProbe;
  /** Versions and devices as NVML and the driver say. Initialises both; never creates a context. */
  inspect(request: Target): Promise<Inspection>;
  /** Who owns each driver function on each of the four symbol paths. Makes no driver call. */
  provenance(request: Target): Promise<Provenance>;
  /** Serves sequences that arrive at random, all that wait in one batch; rejects if outputs are wrong. */
  dynamicBatching(session: number, request: DynamicBatchingRequest): Promise<DynamicBatching>;
  /** Has NVML keep the errors of a GPU from now on, for the life of the process. */
  watchXids(request: XidRequest): Promise<XidWatch>;
  /** All since watchXids, in the order in which they happened. */
  seenXids(request: XidRequest): Promise<XidEvent[]>;
  /** Launches a kernel that fails in a known way and waits for it: the context is lost, as on any error. */
  raiseFault(session: number, request: FaultRequest): Promise<FaultAnswer>;
  /** Starts an endless kernel; it is running when this resolves. Kill the process to end it. */
  startEndless(session: number): Promise<EndlessKernel>;
  /** Allocates and frees for a time. */
  allocationStorm(session: number, request: StormRequest): Promise<Storm>;
  /** Allocates until it is refused and frees nothing. */
  hoard(session: number, request: HoardRequest): Promise<Hoard>;
  /** Rounds of work whose results are all compared with the expected ones. */
  verifiedRounds(session: number, request: RoundsRequest): Promise<VerifiedRounds>;
  /** Runs kernels in streams that do not depend on each other, and says how many ran at once. */
  streamConcurrency(session: number, request: ConcurrencyRequest): Promise<StreamConcurrency>;
  launchBlock(session: number, request: LaunchRequest): Promise<LaunchBlock>;
  /** How long each launch call took, of launches far enough apart that no limiter has to delay them. */
  pacedLaunches(session: number, request: PacedLaunchRequest): Promise<PacedLaunches>;
  /** What the process finds out about its layer by experiment; every granted allocation is freed at once. */
  probeLayer(session: number, request: LayerProbeRequest): Promise<LayerProbe>;
  /** Looks for a tag in memory that was never written here, or writes it first. Memory stays allocated until releaseSurfaces. */
  visitSurface(session: number, request: SurfaceRequest): Promise<SurfaceFound>;
  releaseSurfaces(session: number): Promise<Released>;
  /** As cuMemGetInfo reports it to this process. */
  tenantMemory(session: number): Promise<TenantMemory>;
  /** Leaves blocks with a tag open to attacks. */
  layBait(session: number, request: BaitRequest): Promise<Bait>;
  /** Tries to read memory of another process; after `address` this process is unusable. */
  attackMemory(session: number, request: AttackRequest): Promise<AttackAnswer>;
  /** Keeps kernels of one shape running from an absolute time on, and says how much work was done in each bin of the device's time. */
  load(session: number, request: LoadRequest): Promise<Load>;
  gemmRates(session: number, request: GemmRatesRequest): Promise<GemmRates>;
  /** Held until `releaseMemory`. */
  fillMemory(session: number, request: MemoryFillRequest): Promise<MemoryFill>;
  /** Blocks of random sizes. Held until `releaseMemory`. */
  churnMemory(session: number, request: MemoryChurnRequest): Promise<MemoryChurn>;
  largestBlock(session: number, request: LargestBlockRequest): Promise<LargestBlock>;
  releaseMemory(session: number): Promise<MemoryReleased>;
  timeRefusals(session: number, request: RefusalsRequest): Promise<Refusals>;
  /** Memory held by cuMemAlloc, for another process. */
  exportMemory(session: number): Promise<ExportedMemory>;
  /** Held until `releaseMemory`. */
  importMemory(session: number, request: ImportRequest): Promise<MemoryFill>;
  /** What a program is told by the functions that it finds, which a layer may answer. */
  reportedMemory(session: number): Promise<ReportedMemory>;
  /** A first round is not timed. */
  pageRounds(session: number, request: PageRoundsRequest): Promise<PageRounds>;
  poolPairs(session: number, request: PoolPairsRequest): Promise<PoolPairs>;
  poolRefusal(session: number, request: PoolRefusalRequest): Promise<PoolRefusal>;
  /** Holds the block until freeLarge, or the next one. */
  allocateLarge(session: number, request: LargeAllocationRequest): Promise<LargeAllocation>;
  freeLarge(session: number): Promise<LargeFree>;
  /** The GPUs that NVML lists. No CUDA call. */
  listGpus(request: Target): Promise<ListedGpu[]>;
  /** Has a thread of its own read a GPU at an interval. Resolves when it has begun; no CUDA call. */
  startMonitor(request: MonitorRequest): Promise<MonitorId>;
  /** What a monitor has read since it was last asked. */
  takeSamples(request: MonitorId): MonitorReport;
  /** Resolves when the monitor reads no more; what it has read can still be taken. */
  stopMonitor(request: MonitorId): Promise<void>;
  /** Stops a monitor and forgets what it has read. */
  dropMonitor(request: MonitorId): void;
  /** cuMemAlloc and cuMemFree through the program's pointers and the driver's own, in turn. */
  allocationPairs(session: number, request: AllocationPairRequest): Promise<AllocationPairs>;
  /** Names pairBlock accepts. */
  pairFunctions(): string[];
  pairBlock(session: number, request: PairRequest): Promise<PairBlock>;
  pipelineRuns(session: number, request: PipelineRequest): Promise<PipelineRuns>;
  /** The kernel kills this process when the thread that started it ends. */
  dieWithParent(): void;
  /** Serves requests at a fixed rate, whether or not the previous one is done; rejects if a result is not what its kernels compute. */
  requests(session: number, request: RequestsRequest): Promise<Requests>;
  /** Retains the device's primary context until the process ends: sessions on it then open at once. */
  keepContext(request: DeviceTarget): Promise<void>;
  /** Waits until no other session of this process is open, then retains the device's primary context. */
  openSession(target: DeviceTarget): Promise<number>;
  /** Waits as openSession does, but uses no device: the turn of a measurement made by other processes. */
  openTurn(): Promise<number>;
  closeSession(session: number): Promise<void>;
  /** Stops the session's running task at its next sample; that task rejects with kind `aborted`. */
  cancel(session: number): void;
  /** Pairs of an allocation and a free among changing numbers of live blocks, in the order of `lives`. */
  liveSets(session: number, request: LiveSetRequest): Promise<LiveSetCell[]>;
  /** The unique id of a new NCCL communicator; the process stays until its ranks have joined. */
  makeCommunicatorId(session: number): Promise<CommunicatorId>;
  /** Makes the session's GPU a rank of a communicator; resolves when all ranks have joined, which may be never. */
  joinRanks(session: number, request: JoinRequest): Promise<Joined>;
  /** Ends the session's communicator; asked of all ranks. */
  leaveRanks(session: number): Promise<Joined>;
  /** Keeps a rank's part of a transformer block in the session, beside those for other numbers of ranks. */
  prepareShard(session: number, request: ShardRequest): Promise<PreparedShard>;
  /** How long steps of the block take, or its all-reduces alone; rejects where work was skipped. */
  runSteps(session: number, request: StepsRequest): Promise<StepTimes>;
  /** Numbers that the last step left; rejects where matrix products are wrong. */
  sampleBlock(session: number, request: SampleRequest): Promise<BlockSample>;
  /** Keeps kernels that fill the device queued and reports the share of the device's time in which they ran. */
  computeShare(session: number, request: ComputeShareRequest): Promise<ComputeShare>;
  /** The start of a process split into steps; once per process, before anything else. */
  startUp(request: StartUpRequest): Promise<StartUp>;
  /** NVML's view of a GPU by UUID, without a session or any CUDA call; null where NVML knows no such GPU. */
  gpuState(request: GpuStateRequest): Promise<GpuState | null>;
  /** NVML's utilisation of a GPU and of its processes, as gpuState without a session. */
  gpuUtilization(request: UtilizationRequest): Promise<GpuUtilization | null>;
  /** NVML's view of the session's GPU; every field null where NVML does not know it. */
  health(session: number): Promise<GpuState>;
  /** How the host waits in the session's context, as cuCtxGetFlags says; null if it does not report it. */
  scheduling(session: number): Promise<Scheduling | null>;
  /** What cuMemGetInfo reports to this process, which a layer may change; null if it refused. */
  visibleMemory(session: number): Promise<VisibleMemory>;
  /** From which this file was made (npm run docs). */
  description(): DescribedTopic[];
  /** Keeps blocks running for a time, and says on which multiprocessors they were and when. */
  blockTrace(session: number, request: BlockTraceRequest): Promise<BlockTrace>;
  /** What the host pays to launch in two contexts in turn; the second one is made for as long. */
  contextAlternation(session: number, request: AlternationRequest): Promise<ContextAlternation>;
  /** The fixed unit of work of OH-010, repeated; rejects where a unit's results are wrong. */
  work(session: number, request: WorkRequest): Promise<Work>;
  /** Launches a small kernel now and then, and says how long each waited. */
  startDelays(session: number, request: StartDelayRequest): Promise<StartDelays>;
  /** One operation repeated from an absolute time on: what each of several tenants does at the same time. */
  window(session: number, request: WindowRequest): Promise<TenantWindow>;
}

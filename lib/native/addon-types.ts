/**
 * The one typed description of the native surface. Generated from native/addon by npm run native-types.
 * Times are nanoseconds; arrays of samples are Float64Array. Every promise may reject with an object that
 * lib/native/errors.ts turns into the public error classes; a request of another shape is a TypeError.
 */

// A transformer block on several GPUs

export interface ShardRequest {
  ranks: number;
  rank: number;
  tokens: number;
  /** Columns of the activations; a multiple of 16 times the number of ranks. */
  hidden: number;
  /** Columns between the projections of the MLP; a multiple of 16 times the number of ranks. */
  mlp: number;
  /** Seed of input and weights. */
  seed: number;
}

export interface PreparedShard {
  /** Kernel variant of the matrix products. */
  variant: string;
  /** Operations per step on this rank. */
  flops: number;
  /** Size of the weights on this rank, in bytes. */
  weightBytes: number;
  /** Bytes that a step's all-reduces sum up. */
  reducedBytes: number;
}

export type StepKind = 'block' | 'all-reduces';

export interface StepsRequest {
  /** Selects the session's block for this number of ranks. */
  ranks: number;
  kind: StepKind;
  steps: number;
  /** Start time on the clock of `now`. If it has passed, starts at once. */
  startAtNs: number;
}

/** Times are relative to `startAtNs`. */
export interface StepTimes {
  /** Error of NCCL. */
  failure: string | null;
  /** Time after an all-reduce that starts all ranks together. */
  beganNs: number;
  /** When the host knew that the last step was over. */
  endedNs: number;
  /** Time between the events around the steps. */
  deviceNs: number;
}

export interface SampleRequest {
  /** Selects the session's block for this number of ranks. */
  ranks: number;
  /** Seed of the sampled places. */
  seed: number;
}

export interface BlockSample {
  /** Number of elements compared with double precision. */
  elements: number;
  /** Largest difference, relative to the allowed rounding error. */
  worstAllowed: number;
  /** Values at sampled places of both results, before the all-reduces. */
  parts: number[];
  /** Values at the same places after the all-reduces. */
  sums: number[];
}

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
  /** Start time on the clock of `now`. If it has passed, starts at once. */
  startAtNs: number;
  windowNs: number;
  /** Memory quota that an allocation storm tries to exceed; 0: no quota. */
  quotaBytes: number;
}

/** Times are relative to `startAtNs`. */
export interface Aggression {
  startedNs: number;
  endedNs: number;
  /** Operations that were seen to finish. */
  operations: number;
  /** Blocks that the device counted for these operations. */
  blocks: number;
  /** When operations were seen to finish. */
  marksNs: number[];
  /** Long kernels: whether nothing else could start beside them; left out if that could not be seen. */
  cardFull?: boolean;
  /** Peak device memory in bytes. */
  usedBytes: number;
  /** Bytes that each operation copies; left out if it copies nothing. */
  operationBytes?: number;
  /** Refused allocations. */
  refused: number;
  /** Allocations that were granted above the quota; each was freed at once. */
  exceeded: number;
  /** Reason why it cannot run here; null: it ran. */
  missing: string | null;
}

// Allocations and frees

export type AllocationApi = 'cuMemAlloc' | 'cuMemCreate' | 'cuMemAllocAsync' | 'cuMemAllocFromPoolAsync';

export interface AllocationRequest {
  api: AllocationApi;
  /** Size of a block in bytes; 0: the allocation granularity. */
  bytes: number;
  live: number;
  count: number;
  warmup: number;
  /** Whether to call the driver's own functions, past a layer. */
  bare: boolean;
}

export interface AllocationBlock {
  bytes: number;
  live: number;
  allocNs: Float64Array;
  /** For virtual memory: cuMemCreate alone, without the mapping. */
  createNs: Float64Array;
  freeNs: Float64Array;
  /** Device memory of this process before the live blocks and with them; null if NVML cannot report it. */
  usedBefore: number | null;
  usedLive: number | null;
}

export interface FreeRequest {
  /** Size of a block in bytes; 0: the allocation granularity. */
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
  /** Device memory of this process before and after the frees; null if NVML cannot report it. */
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
  /** Tokens per sequence. */
  length: number;
  /** Number of sequences; 0: at least four heads per multiprocessor, within a quarter of the free memory. */
  batch: number;
  causal: boolean;
  /** Number of timed batches of launches. */
  batches: number;
  /** Minimum number of launches per batch. */
  leastLaunches: number;
  /** Minimum duration of a batch. */
  leastNs: number;
  /** Seed of the inputs. */
  seed: number;
}

export interface AttentionRate {
  variant: string;
  computeCapability: string;
  multiprocessors: number;
  /** Number of sequences. */
  batch: number;
  /** Operations per launch: 4 · head dimension for each pair of a query and a key that it sees. */
  launchFlops: number;
  /** Size of a launch's operands in bytes, each counted once. */
  launchBytes: number;
  /** Time per launch in each batch. */
  launchNs: number[];
  /** Launches per batch. */
  launches: number;
  /** Highest SM clock while launches ran; null if NVML does not report it. */
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
  /** Size of a buffer in bytes (a copy uses two); 0: eight times the L2 cache, at least 64 MiB. */
  bytes: number;
  /** Number of blocks per kernel, each with 1024 threads; 0: two per multiprocessor. */
  blocks: number;
  /** Start time on the clock of `now`. If it has passed, starts at once. */
  startAtNs: number;
  /** Time during which kernels are launched, by the device's clock or the host's, whichever is over first. */
  windowNs: number;
}

export interface StreamWindow {
  /** Size of a buffer in bytes. */
  bytes: number;
  blocks: number;
  /** Number of multiprocessors that the tenant is told. */
  multiprocessors: number;
  /** Bytes that a kernel moves; a copy counts what it reads and what it writes. */
  movedBytes: number;
  /** Peak memory bandwidth from memory clock and bus width; 0: unknown. */
  dramCeilingGbs: number;
  /** Time on the device's clock; `fromNs` and `toNs` are relative to it. */
  originMs: number;
  /** Time at which each kernel's first block started. */
  fromNs: number[];
  /** Time at which each kernel's last block ended. */
  toNs: number[];
}

// Batch sizes

export interface StreamRequest {
  kind: StreamKind;
  /** Size of a buffer in bytes, a multiple of 32 KiB; 0: 1 GiB or eight times the L2 cache. */
  bytes: number;
  batches: number;
  /** Minimum number of launches per batch. */
  leastLaunches: number;
  /** Minimum duration of a batch. */
  leastNs: number;
}

export interface StreamTimes {
  /** Bytes that a launch moves; a copy counts what it reads and what it writes. */
  movedBytes: number;
  /** Time per launch in each batch. */
  launchNs: number[];
}

export interface BatchScalingRequest {
  /** Rows of a layer's weights; 0: 8192, or as many as make the weights twice the L2 cache. */
  n: number;
  /** Columns of a layer's weights; a multiple of 64. */
  k: number;
  /** Number of layers; 0: enough for eight times the L2 cache, within a quarter of the free memory. */
  layers: number;
  /** Size of the buffer whose reading gives the memory bandwidth; 0: 1 GiB or more. */
  streamBytes: number;
  seed: number;
  /** Number of rounds; each round measures every batch size once. */
  rounds: number;
  /** Minimum number of launches per batch size and round. */
  leastLaunches: number;
  /** Minimum duration per batch size and round. */
  leastNs: number;
}

export interface BatchRow {
  batch: number;
  variant: string;
  /** Operations per launch. */
  flops: number;
  /** Bytes per launch: weights, inputs and outputs, each counted once. */
  bytes: number;
  /** Time per launch in each round. */
  launchNs: number[];
  /** Checksum of a layer's outputs. */
  checksum: string;
}

export interface BatchScaling {
  /** Reason why nothing was measured; null: it was measured. */
  unsupported: string | null;
  n: number;
  k: number;
  layers: number;
  batches: BatchRow[];
  streamBytes: number;
  /** Duration of each read of these bytes. */
  streamNs: number[];
  /** Peak memory bandwidth: 2 × clock × width of the memory's bus. */
  memoryCeilingGbs: number | null;
  /** SM clock under the load of the largest batch; null if NVML does not report it. */
  smClockMhz: number | null;
}

// Bursts of launches

export type BurstCall = 'cuLaunchKernel' | 'cuLaunchKernelEx' | 'cuGraphLaunch';

export interface BurstRequest {
  call: BurstCall;
  /** Launches per burst, over all threads. */
  launches: number;
  /** Kernels per launch; more than 1 only for graphs. */
  nodes: number;
  /** Number of threads that launch at the same time; 1: only the measuring thread. */
  threads: number;
  /** Streams per thread, used in turn. */
  streams: number;
  bursts: number;
  /** Launches of each thread before the first burst. */
  warmup: number;
  /** Index of the processor to use among those that the thread may use. */
  core: number;
}

export interface LaunchBursts {
  /** Kernels per burst. */
  kernels: number;
  /** Time from the first call of each burst until every wait has returned. */
  totalNs: Float64Array;
  /** Time from the first call of each burst until the last launch call has returned. */
  submitNs: Float64Array;
  /** Time per kernel that a graph adds, by the device's clock; null for other calls. */
  deviceNs: number | null;
  /** Processor that the thread used; null with several threads or if the system does not let threads choose. */
  core: number | null;
}

// Checkpoints

export interface Target {
  /** Folder of the simulated libraries, or null for the machine's own driver. */
  simulatedDriver: string | null;
}

export type CheckpointCall = 'state' | 'restore-thread' | 'lock' | 'checkpoint' | 'restore' | 'unlock';

export interface CheckpointRequest extends Target {
  path: 'runtime' | 'dlsym' | 'linked';
  pid: number;
  call: CheckpointCall;
  /** Time limit of `lock`; 0: none. Other calls ignore it. */
  timeoutMs: number;
}

export interface CheckpointAnswer {
  /** Result of the call; 0: it succeeded. */
  code: number;
  /** The driver's name of the code. */
  name: string;
  /** Time on the clock of `now` at which it was called. */
  calledNs: number;
  tookNs: number;
  /** 0 running, 1 locked, 2 checkpointed, 3 failed; null if it was not asked for. */
  state: number | null;
  /** Thread of the process that restores it; null if it was not asked for. */
  thread: number | null;
}

export interface CheckpointHoldRequest {
  /** Size of all allocations together. */
  bytes: number;
  /** Number of allocations. */
  allocations: number;
}

export interface CheckpointHold {
  /** What is held: whole words, in allocations that are not empty. */
  bytes: number;
  allocations: number;
}

export interface CheckpointVerified {
  /** Whether all allocations have the content that they were filled with. */
  checksums: boolean;
  /** Whether every allocation begins where it did and has its size. */
  addresses: boolean;
  /** Whether the graph, launched again, writes what it should. */
  graph: boolean;
  stream: boolean;
  event: boolean;
  /** Time from the call until the host saw the result of a first kernel. */
  firstResultNs: number;
}

export interface CheckpointWorkRequest {
  ms: number;
}

export interface CheckpointWork {
  /** Time on the clock of `now` at which it was submitted. */
  submittedNs: number;
  /** How long it takes on the device. */
  estimatedNs: number;
}

// Clocks

export interface LibcFunction {
  name: string;
  owner: string | null;
  /** Whether it is libc's function and its code is the same as in libc's file. */
  own: boolean;
}

/** Time that has passed since the addon was loaded, by libc's function, the raw system call and the processor's counter. */
export interface ClockRate {
  clock: string;
  libraryNs: number;
  systemNs: number;
  /** Null if the counter cannot be used; `counterUnused` gives the reason. */
  counterNs: number | null;
  /** Time between two readings of the same moment. */
  bracketNs: number;
}

/** Whether clock and processor's counter advanced by the same time between readings. */
export interface ClockAgreement {
  /** Pairs of successive readings of a thread. */
  compared: number;
  /** Readings during which the thread lost its processor, or that took long. */
  unclear: number;
  differing: number;
  /** The largest difference; 0 if none. */
  largestNs: number;
}

export interface ClockReading {
  /** Functions with which the process reads time, and their owners. */
  functions: LibcFunction[];
  rates: ClockRate[];
  counterUnused: string | null;
  /** Agreement of all readings since the addon was loaded; null if no counter can be trusted. */
  agreed: ClockAgreement | null;
  /** Digest of the kernel's code for reading clocks, the same in every process. */
  vdso: string | null;
}

export interface TimerCalibration {
  /** Smallest non-zero difference between two readings. */
  resolutionNs: number;
  /** Median duration of two successive readings. */
  pairCostNs: number;
}

// Copies between GPUs

export interface PeerRequest {
  /** UUID of the other GPU. */
  peer: string;
}

export interface PeerAccess {
  /** Result of cuDeviceCanAccessPeer. */
  canAccess: boolean;
  /** Rank by cuDeviceGetP2PAttribute, which also gives the next: 0 is the fastest; null: not reported. */
  performanceRank: number | null;
  nativeAtomics: number | null;
}

export type PeerWay = 'cuMemcpyPeerAsync' | 'both directions at once' | 'loads of a kernel';

export interface PeerCopiesRequest {
  /** UUID of the other GPU. */
  peer: string;
  way: PeerWay;
  /** Size of a copy: a multiple of 4. */
  bytes: number;
  count: number;
  warmup: number;
  /** Seed of what is copied. */
  seed: number;
}

export interface PeerCopies {
  /** Duration of each sample, by events of the session's GPU. */
  deviceNs: number[];
}

export interface OfferRequest {
  /** A multiple of 4; 0: nothing is offered any more. */
  bytes: number;
}

export interface OfferedMemory {
  /** Handle of cuIpcGetMemHandle, in hexadecimal. */
  handle: string;
}

export interface OfferedCopiesRequest {
  /** Result of offerMemory in another process, on another GPU. */
  handle: string;
  /** Size of a copy: what was offered. */
  bytes: number;
  count: number;
  warmup: number;
  /** Seed of what is copied. */
  seed: number;
}

export interface OfferedCopies {
  /** Duration of each sample, by events of the session's GPU. */
  deviceNs: number[];
  /** Seed of what the last copy left there. */
  lastSeed: number;
}

export interface OfferedCheckRequest {
  /** Seed of what has to be there. */
  seed: number;
}

export interface OfferedCheck {
  /** Words of the offered memory. */
  words: number;
  /** Words that are something else. */
  wrong: number;
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
  /** Size of a copy in bytes; a multiple of 4. */
  bytes: number;
  /** Copies per sample, made one after the other to adjacent memory. */
  copies: number;
  count: number;
  warmup: number;
  /** Seed of the copied data. */
  seed: number;
}

export interface CopyRate {
  /** Duration of each sample, by the device's events. */
  deviceNs: Float64Array;
  /** NUMA node to which the thread and the host's memory are bound; null: they are not bound. */
  node: number | null;
}

export type CopySource = 'cuMemHostAlloc' | 'mmap' | 'cuMemHostRegister';

export interface SourceCopiesRequest {
  source: CopySource;
  /** Size of a copy in bytes; a multiple of 4. */
  bytes: number;
  count: number;
  warmup: number;
  /** Seed of the copied data. */
  seed: number;
}

export interface SourceCopies {
  /** Duration of each copy, by the host's clock. */
  copyNs: Float64Array;
  /** Duration of the call that pinned the memory; null: the memory is not pinned. */
  pinNs: number | null;
  pinnedBytes: number;
  node: number | null;
}

export interface PcieLinkRequest {
  /** Size of each copy that keeps the link busy, in bytes. */
  bytes: number;
  seed: number;
}

/** PCIe link as NVML reports it; null for values that NVML does not report. */
export interface PcieLink {
  /** Current generation and width. */
  generation: number | null;
  width: number | null;
  /** Highest generation and width that both the device and the slot support. */
  maxGeneration: number | null;
  maxWidth: number | null;
  /** Whether copies were in progress when NVML was read. */
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

/** If all sizes are 0, they are chosen to fit the memory limit. */
export interface DecoderRequest extends DecoderShape {
  /** Memory limit for default sizes; 0: the memory of the device. */
  limitBytes: number;
  /** Number of sequences that decode together. */
  batch: number;
  /** Prompt tokens per sequence. */
  prompt: number;
  /** Tokens to generate per sequence. */
  output: number;
  /** Seed of weights and prompts. */
  seed: number;
}

export interface PreparedDecoder extends DecoderShape {
  /** Bytes of weights that a step reads. */
  weightBytes: number;
  /** Size of the keys and values in bytes. */
  cacheBytes: number;
  /** Size of the device's L2 cache in bytes; 0: unknown. */
  l2Bytes: number;
  /** Peak memory bandwidth from memory clock and bus width; 0: unknown. */
  dramCeilingGbs: number;
  /** Launches per step. */
  launches: number;
  /** Kernel variant of the matrix products of decode steps. */
  variant: string;
  /** Kernel variant of the matrix products of prompts, and of their attention. */
  promptVariant: string;
  /** Whether a kernel begins before the previous one ends (programmatic dependent launch). */
  overlaps: boolean;
  /** Largest difference of a logit between a small decoder on this device and double precision. */
  referenceError: number;
}

export interface DecodeRequest {
  /** Whether a step is launched as one captured graph. */
  graph: boolean;
  /** Start time on the clock of `now`. If it has passed, starts at once. */
  startAtNs: number;
  /** Time during which requests and steps are started; the first request is always finished. */
  windowNs: number;
  /** Maximum number of requests; 0: as many as time allows. */
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
  /** Number of sequences. */
  batch: number;
  /** Context length of each sequence in tokens. */
  context: number;
  heads: number;
  /** Number of KV heads; at most eight query heads may split one. */
  kvHeads: number;
  /** Head dimension: 64 or 128. */
  dimension: number;
  seed: number;
  /** Number of timed batches of launches. */
  batches: number;
  /** Minimum number of launches per batch. */
  leastLaunches: number;
  /** Minimum duration of a batch. */
  leastNs: number;
}

export interface DecodeAttentionRate {
  /** Size of the keys and values that a launch reads, in bytes. */
  bytes: number;
  /** Number of equal parts into which the pages of all sequences are split. */
  splits: number;
  /** Time per launch in each batch. */
  launchNs: number[];
  /** Largest error of sampled heads, against double precision. */
  referenceError: number;
}

// Detection of faults

export type FaultKind = 'outOfBounds' | 'misaligned' | 'trap' | 'assert';

export type FaultWait = 'query' | 'synchronize';

export interface FaultDetectionRequest {
  fault: FaultKind;
  /** Whether the host queries repeatedly or waits inside a call. */
  wait: FaultWait;
}

export interface MappingQuality {
  /** Root mean square error of the tightest exchanges relative to the fitted line. */
  residualNs: number;
  bracketNs: number;
  driftPpm: number;
  tickNs: number;
}

export interface FaultDetection {
  /** Result of the first call that reported an error; 0: no call did within a second. */
  code: number;
  name: string;
  /** Whether the kernel noted the time at which it failed. */
  stamped: boolean;
  /** Time from the kernel's stamp until that call returned. */
  latencyNs: number;
  /** Time from the kernel's stamp until the launch call returned; usually negative. */
  submittedNs: number;
  /** Number of earlier calls that reported that the kernel had ended without an error. */
  successes: number;
  mapping: MappingQuality;
}

// Discovery

export interface DiscoveryRequest extends Target {
  /** Number of warm passes after the first pass. */
  repeats: number;
}

export interface DiscoveryFunction {
  name: string;
  owner: string | null;
  intercepted: boolean;
}

export interface DiscoveryPass {
  totalNs: number;
  /** Time of each step; a step that queries every GPU sums over the GPUs. */
  stepsNs: number[];
}

export interface Discovery {
  /** Time for dlopen of NVML and resolving its functions. */
  loadNs: number;
  /** One function per step, in the order of `stepsNs`, as dlsym returned it. */
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
  /** Whether the library exists but a process that loads it crashes or hangs; `error` describes how. */
  fatal: boolean;
}

export interface FailedCall {
  code: number;
  name: string;
  call: string;
  /** What to do about a function that every measurement needs and that is not there; null: the call failed. */
  missing: string | null;
}

export interface NativeDevice {
  index: number;
  uuid: string;
  name: string;
  memoryBytes: number;
  /** Memory that cuDeviceTotalMem reports to this process; a layer may change it. Null if a layer hides that function. */
  visibleMemoryBytes: number | null;
  computeCapability: string;
  multiprocessors: number;
  maxSmClockMhz: number | null;
  powerLimitW: number | null;
  vbios: string | null;
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

export interface MigInstance {
  uuid: string;
  name: string;
  /** UUID of its card. */
  parent: string;
  parentIndex: number;
  gpuInstance: number | null;
  computeInstance: number | null;
  multiprocessors: number | null;
  memoryBytes: number;
}

export interface GpuProcess {
  pid: number;
  usedBytes: number | null;
  /** Null if NVML has no list of MPS clients. */
  mpsClient: boolean | null;
}

export interface PlaceProcesses {
  /** UUID of a MIG instance, or of a card that has none. */
  uuid: string;
  /** Null if NVML does not list them. */
  processes: GpuProcess[] | null;
}

/** The owner of the address of a function on each symbol path: a file, `memory without a file`, or null if it does not resolve. */
export interface CudaOwners {
  runtime: string | null;
  dlsym: string | null;
  linked: string | null;
  bare: string | null;
}

/** Code of a driver function whose beginning differs from the file it was mapped from. */
export interface PatchedCode {
  /** Bytes in memory, hexadecimal. */
  bytes: string;
  /** The object that contains the target of the jump at its beginning; null without a jump, or if no object contains its target. */
  owner: string | null;
}

export interface CudaFunction {
  name: string;
  owners: CudaOwners;
  /** The paths on which the address is not the driver's own, whoever owns it. */
  interposed: string[];
  patched?: PatchedCode;
}

export interface NvmlOwners {
  dlsym: string | null;
  bare: string | null;
}

export interface NvmlFunction {
  name: string;
  owners: NvmlOwners;
  /** The paths on which the address is not the driver's own, whoever owns it. */
  interposed: string[];
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
  /** The driver itself; differs from `loaded` if libcuda.so.1 was replaced by a library that forwards to it. */
  driver: string;
  simulated: boolean;
  /** Version of the NVIDIA kernel module; null if unknown. */
  kernelModule: string | null;
  /** Whether `driver` has that version; null if unknown. */
  carriesKernelVersion: boolean | null;
}

export interface Provenance {
  functions: CudaFunction[];
  nvml: NvmlFunction[];
  /** Objects mapped into the process that export `dlsym` or names beginning with `cu`, except drivers and libc. */
  objects: MappedObject[];
  /** Functions of libc with which files and symbols are read, and that are not libc's. */
  replaced: LibcFunction[];
  /** Reason why the driver's code was not compared with its file; null if it was. */
  codeUnreadable: string | null;
  libcuda: LibcudaInfo;
}

// Dynamic batching

export interface DynamicBatchingRequest {
  /** Start time on the clock of `now`. If it has passed, starts at once. */
  startAtNs: number;
  /** Time during which sequences arrive. */
  windowNs: number;
  /** Time after the window during which waiting sequences are still served. */
  graceNs: number;
  /** Number of steps after which the window ends early; 0: no limit. */
  mostSteps: number;
  /** Largest batch; at most 64. */
  mostBatch: number;
  /** Sequences that arrive per second; 0: `load` times the capacity. */
  arrivalsPerS: number;
  /** Fraction of the capacity, which is measured before the start. */
  load: number;
  /** Rows, columns and layers as in BatchScalingRequest. */
  n: number;
  k: number;
  layers: number;
  /** Seed of weights, inputs and arrivals. */
  seed: number;
}

/** Times are relative to `startAtNs`. */
export interface DynamicBatching {
  /** Reason why nothing was measured; null: it was measured. */
  unsupported: string | null;
  variant: string;
  n: number;
  k: number;
  layers: number;
  /** Sequences per second in back-to-back steps of the largest batch; null if the request set the arrivals. */
  capacityPerS: number | null;
  arrivalsPerS: number;
  startedNs: number;
  endedNs: number;
  /** Sequences that arrived. */
  offered: number;
  served: number;
  /** Time at which each step began. */
  stepAtNs: number[];
  /** Time from before each step's first launch until the host knew that the step was over. */
  stepNs: number[];
  /** Number of sequences in each step. */
  stepBatch: number[];
  /** Time that sequences waited for their step to begin: all of them, or at most 20000 evenly spaced ones. */
  queueNs: number[];
}

// Errors of a GPU

export interface XidRequest extends Target {
  uuid: string;
}

export interface XidWatch {
  /** Reason why NVML cannot report errors; null if it can. */
  unsupported: string | null;
}

/** An error of the GPU that the kernel module reported. */
export interface XidEvent {
  /** Time on the clock of `now` at which the error was read. */
  atNs: number;
  /** NVIDIA's number of the error; for example, 31 is a memory page fault. */
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
  /** When the call that reported the fault returned, on the clock of `now`. */
  toldAtNs: number;
}

export interface EndlessKernel {
  blocks: number;
  /** Whether another kernel of the process could not begin beside it; null if that was not seen. */
  cardFull: boolean | null;
}

export interface StormRequest {
  /** Size of an allocation in bytes. */
  bytes: number;
  forMs: number;
}

export interface Storm {
  allocations: number;
}

export interface HoardRequest {
  /** Once it holds this many bytes, it asks for more memory than any card has. */
  mostBytes: number;
}

export interface Hoard {
  /** Granted bytes. */
  bytes: number;
  /** Result of the refused allocation; 0 if none was refused. */
  code: number;
  name: string;
}

export interface RoundsRequest {
  /** Size in bytes of the block that a round allocates, fills, reads back and frees. */
  bytes: number;
  forMs: number;
}

/** Times are on the clock of `now`. */
export interface VerifiedRounds {
  rounds: number;
  /** Rounds with a wrong result. */
  wrong: number;
  beganNs: number;
  /** End of the last round. */
  endedNs: number;
  /** Longest time without a verified round, counted from the start. */
  longestGapNs: number;
}

// Independent streams

export interface ConcurrencyRequest {
  streams: number;
  /** Kernels per stream, one after the other. */
  kernels: number;
  /** Target duration of a kernel that runs alone. */
  kernelNs: number;
  /** Rounds of arithmetic per kernel; 0: calibrated so that a kernel takes about kernelNs. */
  rounds: number;
  runs: number;
  /** All streams on a green context of so many multiprocessors, which a driver may round up; 0: no partition. */
  partition: number;
}

/** Times are by the device's clock, with one value per run. */
export interface StreamConcurrency {
  rounds: number;
  /** Blocks of a kernel, one a multiprocessor. */
  blocks: number;
  /** Multiprocessors of the partition, as the driver says; without one, of the device. */
  multiprocessors: number;
  /** A kernel that had the device to itself. */
  aloneNs: Float64Array;
  /** The median kernel of the run. */
  kernelNs: Float64Array;
  /** From the first start to the last end. */
  spanNs: Float64Array;
  /** Kernels that ran at the same time in that span, on average. */
  mean: Float64Array;
  /** Most kernels that ran at the same time in that span. */
  most: Float64Array;
}

// Latencies of the L2 cache

export interface ChaseSet {
  /** Size of the set, in eighths of the L2 cache that the device reports. */
  eighths: number;
  /** Blocks that walk the set side by side, with a thread each; 0: one a multiprocessor. */
  blocks: number;
}

export interface ChaseRequest extends ChaseSet {
  /** Time of the start, on the clock of `now`; one that has passed starts at once. */
  startAtNs: number;
  /** How long walks are launched, by the device's clock or the host's, whichever passes first. */
  windowNs: number;
}

export interface Chase {
  /** Size of the L2 cache, as the device reports it. */
  l2Bytes: number;
  /** Size of the working set, in whole lines for every block. */
  bytes: number;
  blocks: number;
  /** Rate of the multiprocessors' clock in these walks; 0: there were none. */
  cyclesPerNs: number;
  /** Time of the device's clock from which the other times count. */
  originMs: number;
  /** Begin of each walk's first block. */
  fromNs: number[];
  /** End of each walk's last block. */
  toNs: number[];
  /** The walk of each of the following latencies. */
  walk: number[];
  /** Mean latencies of loads that differ by a few per cent at most. */
  cycles: number[];
  /** How many of them there were. */
  loads: number[];
}

export interface ChasePassesRequest extends ChaseSet {
  /** Through the whole set; 0: only makes it, for passes of later calls. */
  passes: number;
}

// Launches

export type LaunchCall = 'cuLaunchKernel' | 'cuLaunchKernelEx' | 'cuGraphLaunch';

export interface LaunchRequest {
  call: LaunchCall;
  count: number;
  warmup: number;
  seed: number;
  /** Index of the processor to use among those that the thread may use. */
  core: number;
}

export interface LaunchBlock {
  submitNs: Float64Array;
  startNs: Float64Array;
  roundTripNs: Float64Array;
  /** Processor that the thread used; null if the system does not let threads choose. */
  core: number | null;
  mapping: MappingQuality;
}

// Launches at a pace

export type PacedCall = 'cuLaunchKernel' | 'cuLaunchKernelEx' | 'cuGraphLaunch' | 'cuLaunchCooperativeKernel';

export interface PacedLaunchRequest {
  call: PacedCall;
  count: number;
  warmup: number;
  /** Time from one call to the next. */
  periodNs: number;
  /** Time that every block spins; 0: the kernel ends at once. */
  spinNs: number;
  /** Number of blocks, each with 32 threads. */
  grid: number;
  /** Index of the processor to use among those that the thread may use. */
  core: number;
}

export interface PacedLaunches {
  /** Duration of each launch call, without the wait after it. */
  tookNs: number[];
  /** Indices in `tookNs` of calls during which the scheduler preempted the thread. */
  preempted: number[];
}

// Layer

export interface LayerProbeRequest {
  /** Size of each allocation in bytes. */
  allocations: number[];
}

export interface TriedAllocation {
  bytes: number;
  code: number;
}

export interface LayerProbe {
  visibleTotalBytes: number | null;
  visibleFreeBytes: number | null;
  /** HAMi-core's internal `pidfound`, and the limits that its functions report; null under any other layer. */
  pidFound: boolean | null;
  memoryLimitBytes: number | null;
  smPercent: number | null;
  allocations: TriedAllocation[];
  /** The size of the green context that the process is confined to, by the driver; null: it is not. */
  partitionMultiprocessors: number | null;
  /** Multiprocessors on which blocks ran then, of enough blocks for the whole card. */
  multiprocessorsUsed: number | null;
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

/** A tag and its mark are 32 hexadecimal digits each. */
export interface SurfaceRequest {
  surface: Surface;
  /** Mark of the tag to search for. */
  mark: string;
  /** Tag to write before the search; empty: nothing is written. */
  fill: string;
  /** Maximum amount of memory to examine, in bytes. */
  mostBytes: number;
  /** Time for which the search of on-chip memory is repeated. */
  forMs: number;
}

export interface SurfaceFound {
  /** Examined bytes. */
  bytes: number;
  taggedBytes: number;
  /** Bytes that are neither the tag nor zero. */
  otherBytes: number;
  /** Reason why nothing could be examined; null if it could. */
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
  /** Address of a block that is not shared, in hexadecimal. */
  address: string;
  /** Handle of a block that the victim shares, in hexadecimal. */
  ipcHandle: string | null;
  /** Handle of a block that the victim shared and then freed, in hexadecimal. */
  staleHandle: string | null;
  /** Descriptor of a shareable handle in the victim's process; -1: it could not be created. */
  descriptor: number;
  /** Size of each block in bytes. */
  bytes: number;
  /** Smallest number of tagged bytes that the victim's own scan found in a block. */
  taggedBytes: number;
  /** Reason why there are no handles; null: there are. */
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
  /** Result of the call that was refused; 0: no call was refused. */
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
  /** A name with `_ptsz` means the function that cuGetProcAddress returns for per-thread default streams, used with the thread's default stream. */
  call: LoadCall;
  /** Kernels per launch; more than 1 only for graphs. */
  nodes: number;
  /** Blocks for each multiprocessor that the tenant is told; 0: as many as run at a time, which a cooperative launch needs. */
  blocksPerMultiprocessor: number;
  /** Blocks of the whole kernel, instead of `blocksPerMultiprocessor`; 0: not set. */
  blocks: number;
  /** 0: so many that as many blocks as run at a time leave no room. */
  threadsPerBlock: number;
  /** Rounds per block; 0: calibrated before the start so that a kernel takes about `kernelNs`. When tenants are compared, all use the `rounds` that one of them measured alone and without a limit. */
  rounds: number;
  /** Approximate duration of a kernel that runs alone on the GPU. */
  kernelNs: number;
  /** Maximum number of launches in flight; 1: each launch is waited for with cuStreamSynchronize. */
  inFlight: number;
  /** Start time on the clock of `now`. If it has passed, starts at once. */
  startAtNs: number;
  /** Duration of the load, by the device's clock or the host's, whichever is over first. */
  durationNs: number;
  binNs: number;
  /** The shortest time between two kernels that is listed. */
  gapNs: number;
  /** Maximum number of gaps, kernels and calls; the latest are kept. */
  mostListed: number;
  /** On a green context of so many multiprocessors, which a driver may round up; 0: no partition. */
  partition: number;
}

/** Intervals of device time: start (in ns from the beginning of the first bin) and length. */
export interface Stretches {
  atNs: number[];
  tookNs: number[];
}

/** Work is rounds times blocks, so its amount does not depend on how long it took. */
export interface Load {
  /** Rounds per block that were used. */
  rounds: number;
  blocks: number;
  /** Multiprocessors that the tenant sees. */
  multiprocessors: number;
  /** On which a block ended (%smid). */
  multiprocessorsUsed: number[];
  /** Multiprocessors of the partition, as the driver says; 0: none was asked for. */
  partition: number;
  launches: number;
  kernels: number;
  work: number;
  /** Number of the first bin. Bin i begins at i * binNs of %globaltimer, so bins of tenants of one GPU can be matched by their numbers. */
  firstBin: number;
  /** Beginning of the first bin on the host's clock, relative to `startAtNs`; accurate to half of `hostBracketNs`. */
  hostOriginNs: number;
  hostBracketNs: number;
  /** Work done in each bin. The load covers only a part of the first and the last bin. */
  bins: number[];
  /** Start of the first kernel, in ns from the beginning of the first bin. */
  startedNs: number;
  /** End of the last kernel, in ns from the beginning of the first bin. */
  endedNs: number;
  /** Time between `startedNs` and `endedNs` during which a kernel ran. */
  busyNs: number;
  /** Time of the first launch call, relative to `startAtNs`. */
  hostStartedNs: number;
  /** Number of gaps of at least `gapNs` between two kernels. */
  gaps: number;
  gapsListed: Stretches;
  kernelsListed: Stretches;
  /** Durations of the latest launch calls. */
  callsNs: number[];
  /** Largest number of launches in flight when a launch call returned. */
  mostInFlight: number;
}

// Matrix products

export type NumberFormat = 'fp16' | 'bf16' | 'fp32' | 'fp8 e4m3';

export interface GemmRatesRequest {
  /** The only format to measure; null: all of them, in turn. */
  number: NumberFormat | null;
  /** Side of all three matrices, a multiple of 16. */
  side: number;
  /** Number of rounds; each round runs one batch of launches per format. */
  rounds: number;
  /** Minimum number of launches per batch. */
  leastLaunches: number;
  /** Minimum duration of a batch. */
  leastNs: number;
  /** Seed of the inputs and of the choice of elements in the checksum. */
  seed: number;
}

export interface GemmRate {
  number: NumberFormat;
  /** Reason why the device has no kernel for this format; the fields below are then empty. */
  unsupported: string | null;
  variant: string;
  launchFlops: number;
  /** Size of the three matrices in bytes, each counted once. */
  launchBytes: number;
  /** Time per launch in each batch. */
  launchNs: Float64Array;
  /** Launches per batch. */
  launches: number;
  /** Highest SM clock while launches ran; null if NVML does not report it. */
  smClockMhz: number | null;
  /** Number of elements compared with double precision. */
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
  /** Maximum number of bytes to allocate in this call. */
  mostBytes: number;
  /** Size of the first block in bytes; halved after each refusal. */
  firstBytes: number;
  smallestBytes: number;
  mostBlocks: number;
  /** Bytes to leave free on the card. 0: until the driver refuses. */
  spareBytes: number;
}

/** Error code of a call, and the smallest request that it refused. */
export interface Refusal {
  code: number;
  name: string;
  call: string;
  bytes: number;
}

export interface MemoryFill {
  grantedBytes: number;
  blocks: number;
  /** `enough` and `blocks`: the limits of the request were reached; `spare`: the card has no more memory to give away. */
  end: 'refused' | 'enough' | 'blocks' | 'spare';
  refusals: Refusal[];
  /** Reason why the granted allocation is not memory of its own; null if it holds what was written to it. */
  noMemory: string | null;
  tookNs: number;
}

export interface MemoryChurnRequest {
  path: MemoryPath;
  /** Total size of all blocks before any is freed, in bytes. */
  fillBytes: number;
  /** Smallest size of a block in bytes; sizes are log-uniform. */
  smallestBytes: number;
  largestBytes: number;
  /** Number of further random allocations and frees. */
  turnover: number;
  /** At the end, random blocks are freed until no more than this many bytes are held. */
  keepBytes: number;
  /** Allocates only the blocks that would be left at the end, and frees nothing. */
  compact: boolean;
  /** Time limit; the churn stops wherever it is. */
  mostNs: number;
  seed: number;
}

export interface MemoryChurn {
  /** Blocks that are held at the end. */
  blocks: number;
  heldBytes: number;
  /** Number of allocations and frees. */
  operations: number;
  tookNs: number;
  timedOut: boolean;
  refusals: Refusal[];
  noMemory: string | null;
}

export interface LargestBlockRequest {
  path: MemoryPath;
  /** Free memory in which to search, in bytes. */
  freeBytes: number;
  /** Size of a first request that is expected to be refused; 0: no such request. */
  beyondBytes: number;
  granuleBytes: number;
  mostProbes: number;
  mostNs: number;
}

export interface LargestBlock {
  /** Size of the largest block in bytes; 0: not even a granule was granted. */
  bytes: number;
  /** Size of the smallest refused request in bytes; null: none was refused. */
  refusedBytes: number | null;
  probes: number;
  /** Whether the size is known to the granule; false if the limit on probes or time ended the search. */
  decided: boolean;
  /** Whether a block of this size was granted a second time. */
  again: boolean;
  /** Whether the request beyond the free memory was granted. */
  beyond: boolean;
  noMemory: string | null;
  /** Error code of the last refusal. */
  refusal: string | null;
}

export interface MemoryReleased {
  blocks: number;
  /** Result of repeating the latest allocation after it was freed; null if nothing was held. */
  again: number | null;
  /** Errors of frees. */
  failures: Refusal[];
}

export interface RefusalsRequest {
  path: MemoryPath;
  bytes: number;
  count: number;
  /** Time after which no further request starts; the first 20 are always made. */
  mostNs: number;
}

export interface OtherCode {
  code: number;
  name: string;
  count: number;
}

export interface Refusals {
  /** Durations of the calls that returned CUDA_ERROR_OUT_OF_MEMORY. */
  refusedNs: number[];
  /** Number of granted requests; each was freed at once. After several of them the measurement stops. */
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
  /** Result of the call; 0: success. */
  code: number;
  totalBytes: number | null;
  usedBytes: number | null;
  freeBytes: number | null;
}

export interface ReportedMemory {
  sizes: ReportedSizes[];
  /** UUID of the GPU, as the driver itself reports it. */
  bareUuid: string;
  /** UUIDs of the GPUs that NVML shows to the process; null without NVML. */
  uuids: string[] | null;
  processes: GpuProcess[] | null;
  multiprocessors: number | null;
  /** Number that the driver itself reports. */
  bareMultiprocessors: number | null;
}

// Memory of language models

export type PageMode = 'cuMemCreate' | 'cuMemAllocAsync';

export interface PageRoundsRequest {
  mode: PageMode;
  pages: number;
  rounds: number;
  /** Whether to call the driver's own functions, past a layer. */
  bare: boolean;
}

export interface PageRounds {
  pageBytes: number;
  /** Time to commit all pages of each round. */
  commitNs: Float64Array;
  /** Time to commit each page of each round. */
  pageNs: Float64Array;
  /** For virtual memory: cuMemCreate alone, without the mapping. */
  createNs: Float64Array;
  /** Time to release all pages of each round. */
  releaseNs: Float64Array;
  /** Device memory of this process before the rounds, with the pages of the last one, and after it; null if NVML cannot report it. */
  usedBefore: number | null;
  usedLive: number | null;
  usedAfter: number | null;
}

export interface PoolPairsRequest {
  api: AllocationApi;
  bytes: number;
  count: number;
  warmup: number;
  /** Size of the pool before the first pair, in bytes; 0: unchanged. */
  warmBytes: number;
  /** Whether to call the driver's own functions, past a layer. */
  bare: boolean;
}

/** State of the default pool; null for values that it does not report. */
export interface PoolState {
  /** Release threshold in bytes; not exact above 2^53. */
  thresholdBytes: number | null;
  usedBytes: number | null;
  reservedBytes: number | null;
}

export interface PoolPairs {
  allocNs: Float64Array;
  freeNs: Float64Array;
  /** State before and after all pairs and their preparation. */
  before: PoolState;
  after: PoolState;
  /** Device memory of this process before all of it and while the pool is warm; null if NVML cannot report it. */
  usedBefore: number | null;
  usedWarm: number | null;
}

export interface PoolRefusalRequest {
  api: AllocationApi;
  bytes: number;
}

export interface PoolRefusal {
  granted: boolean;
  /** The driver's name of `code`. */
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
  /** For virtual memory: cuMemCreate alone, without the mapping. */
  createNs: number | null;
  /** Time to fill the whole block, until the fill is complete. */
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
  /** Percentage of NVML's last sampling period in which a kernel of the process ran; null if NVML listed no value in the last second. */
  smPercent: number | null;
  /** Percentage of that period in which the process accessed memory; null in the same case. */
  memoryPercent: number | null;
}

/** NVML's readings of a GPU at one time; null for values that NVML does not report. */
export interface CardSample {
  /** Time on the clock of `now` before the NVML calls. */
  atNs: number;
  /** Percentage of NVML's last sampling period in which a kernel ran, and in which memory was accessed. */
  gpuPercent: number | null;
  memoryPercent: number | null;
  /** Used memory in bytes, including what the driver reserves. */
  usedBytes: number | null;
  totalBytes: number | null;
  powerW: number | null;
  /** Energy used since the driver was loaded. */
  energyJ: number | null;
  temperatureC: number | null;
  smClockMhz: number | null;
  memoryClockMhz: number | null;
  /** Bytes per second, measured over 20 ms of the interval. */
  pcieReceived: number | null;
  pcieSent: number | null;
  /** Bytes per second over all links since the previous sample; null in the first sample. */
  nvlinkReceived: number | null;
  nvlinkSent: number | null;
  /** Bits of nvmlDeviceGetCurrentClocksEventReasons. */
  eventReasons: number | null;
  /** Processes with a context, or with work in the last second. */
  processes: ProcessSample[];
}

export interface MissingValue {
  /** Name of the NVML function, with the value in parentheses if it returns several. */
  call: string;
  reason: string;
  /** Number of samples without the value. */
  samples: number;
}

export interface MonitorReport {
  /** Samples since the last report, oldest first. */
  samples: CardSample[];
  /** Number of samples so far. */
  taken: number;
  /** Intervals without a sample, because the previous sample took too long. */
  missed: number;
  /** Samples that were discarded because no report took them in time. */
  lost: number;
  missing: MissingValue[];
  /** Why sampling ended before it was stopped. */
  failure: string | null;
}

// Outputs of kernels

export type OutputKernel = 'attention' | 'linearLayer' | 'decoder' | 'product' | 'unitAttention' | 'orderedSum';

export interface OutputsRequest {
  kernel: OutputKernel;
  /** Size of the inputs, a multiple of 64. */
  size: number;
  /** Seed of all inputs. */
  seed: number;
  /** Number of the first repetition. Equal numbers have equal inputs. */
  first: number;
  repetitions: number;
}

export interface Outputs {
  /** Number format of the output. */
  number: string;
  /** Size of an output in bytes. */
  bytes: number;
  /** Digest of each repetition's output. */
  digests: string[];
}

export interface KeptOutputRequest {
  /** Index among the repetitions of the last `kernelOutputs`. */
  index: number;
}

export interface KeptOutput {
  /** Hexadecimal. */
  bytes: string;
}

// Pairs of allocations

export interface AllocationPairRequest {
  /** Size of a block in bytes. */
  bytes: number;
  /** Live blocks per path, in addition to the block that is allocated and freed. */
  live: number;
  order: 'fifo' | 'lifo' | 'random';
  /** Samples per visit. Each is the mean of two allocations, and of two frees, per path, in the order A B B A. */
  count: number;
  /** Untimed samples before each visit's timed ones. */
  warmup: number;
  /** Number of visits, each on another processor. */
  visits: number;
  seed: number;
  /** Index of the processor to use among those that the thread may use. */
  core: number;
}

export interface PairBlock {
  owner: string | null;
  bareOwner: string | null;
  intercepted: boolean;
  calls: number;
  /** Time per call; one value per batch. */
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
  /** Number of samples per pointer. Each is the mean of two batches, in the order A B B A. */
  batches: number;
  /** Maximum number of calls per batch; reduced so that two batches stay below maxBatchNs. */
  calls: number;
  maxBatchNs: number;
  /** Before each batch the host does other work for between a quarter of this time and all of it. */
  gapNs: number;
  seed: number;
  /** Index of the processor to use among those that the thread may use. */
  core: number;
}

// Pipelines

export interface PipelineRequest {
  stages: number;
  microBatches: number;
  /** Target duration of a stage. */
  stageNs: number;
  /** Rounds of arithmetic per stage; 0: calibrated so that a stage takes about stageNs. */
  rounds: number;
  runs: number;
  /** Number of stages before each run that have the device to themselves. */
  alone: number;
}

/** One value per run. Stage times are by the device's clock, run times by the host's. */
export interface PipelineRuns {
  rounds: number;
  /** Blocks per stage. */
  blocks: number;
  /** Median duration of a stage that had the device to itself. */
  aloneNs: Float64Array;
  /** Time from the first launch until the host knew that the last stage was over. */
  runNs: Float64Array;
  /** Time from the start of the first stage to the end of the last. */
  deviceNs: Float64Array;
  /** Median duration of a stage in the run. */
  stageNs: Float64Array;
  /** Average number of stages that ran at the same time. */
  atOnce: Float64Array;
  /** Median time from the end of what a stage waits for until the stage starts. */
  handoffNs: Float64Array;
}

// Process

export interface NewProgram {
  file: string;
  /** With the program's name as the first. */
  arguments: string[];
  /** `NAME=value` each. */
  environment: string[];
}

// Recovery in the same process

export interface DeviceTarget extends Target {
  /** NVML index, UUID or an unambiguous prefix of it, or null for the first visible GPU. */
  device: number | string | null;
  path: 'runtime' | 'dlsym' | 'linked';
}

export interface ContextReset {
  fault: FaultAnswer;
  /** Result of cuDevicePrimaryCtxReset_v2. */
  resetCode: number;
  resetName: string;
  /** The call that failed after it; empty: the next kernel ran. */
  failed: string;
  /** Time of the first result, on the clock of `now`; 0: there was none. */
  firstResultAtNs: number;
  resultCorrect: boolean;
}

// Requests

export interface RequestsRequest {
  /** Start time on the clock of `now`. If it has passed, starts at once. */
  startAtNs: number;
  windowNs: number;
  /** Time after the window during which requests that arrived in it are still served. */
  graceNs: number;
  /** Time from one arrival to the next; 0: a request arrives when the previous one is done. */
  periodNs: number;
  /** Kernels per request, one after the other. */
  kernels: number;
  /** Rounds of work per kernel; 0: calibrated so that a kernel alone takes `kernelNs`. */
  rounds: number;
  kernelNs: number;
  /** Bytes that are copied to the host; a multiple of 4. */
  bytes: number;
}

/** Times are relative to `startAtNs`. */
export interface Requests {
  /** Rounds of work per kernel that were used. */
  rounds: number;
  startedNs: number;
  endedNs: number;
  /** Number of requests that arrived in the window. */
  offered: number;
  /** Arrival time of each served request. */
  arrivedNs: number[];
  /** Time from each request's arrival until its result was on the host. */
  latencyNs: number[];
  /** Time from the start of each request's first kernel to the end of its last one. */
  deviceNs: number[];
  /** SM clock at the end of the window; null if NVML does not report it. */
  smClockMhz: number | null;
}

// Sessions

export interface Confine {
  /** The most that its contexts use; 0: all. */
  multiprocessors: number;
}

// Sets of live blocks

export interface LiveSetRequest {
  /** Size of a block in bytes. */
  bytes: number;
  /** Live blocks of each cell, in addition to the block of the timed pair. */
  lives: number[];
  /** Pairs per cell. */
  count: number;
  warmup: number;
  /** Pointers queried for one sample of `queryNs`; 0: none. */
  queries: number;
  seed: number;
  /** Index of the processor to use among those that the thread may use. */
  core: number;
}

export interface LiveSetCell {
  live: number;
  /** Each pair is one allocation and one free of a random live block. */
  allocNs: Float64Array;
  freeNs: Float64Array;
  /** Time of one cuPointerGetAttribute for a random live block. */
  queryNs: Float64Array;
  /** Device memory of this process before, with and after the cell's blocks; null if NVML cannot report it. */
  usedBefore: number | null;
  usedLive: number | null;
  usedAfter: number | null;
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

export type Collective = 'ncclAllReduce' | 'ncclAllGather' | 'ncclBroadcast';

export interface CollectivesRequest {
  collective: Collective;
  ranks: number;
  rank: number;
  /** Rank that sends, in a broadcast. */
  root: number;
  /** Size of a result on each rank: whole words of 4 bytes of every rank. */
  bytes: number;
  /** Operations of a burst, each with a result of its own. */
  operations: number;
  bursts: number;
  /** Bursts before them. */
  warmup: number;
  /** Seed of what is sent, the same on all ranks. */
  seed: number;
}

export interface CollectiveTimes {
  /** Error of NCCL. */
  failure: string | null;
  /** Duration of each burst, from a meeting of all ranks until this one knew that its last collective was over. */
  hostNs: number[];
  /** Between events around its collectives. */
  deviceNs: number[];
  /** Words of the results of all bursts. */
  words: number;
  /** Words that are not what they must be. */
  wrong: number;
}

export interface GpuLinkRequest {
  /** UUID of the other GPU. */
  peer: string;
}

export type Connection = 'NVLink' | 'one board' | 'PIX' | 'PXB' | 'PHB' | 'NODE' | 'SYS';

/** Link to another GPU, as NVML reports it; null where it does not. */
export interface GpuLink {
  /** What is between the two, as nvidia-smi abbreviates it. */
  connection: Connection | null;
  /** Active NVLinks to the peer, or to the switch between them. */
  peerNvlinks: number;
  /** All active ones of this GPU. */
  nvlinks: number;
  /** MB/s of an NVLink in one direction. */
  nvlinkMbs: number | null;
  /** Highest generation of this GPU and its slot together; `pcieWidth` is their width. */
  pcieGeneration: number | null;
  pcieWidth: number | null;
}

// Shares of compute

/** All values are integers above 0, except that `blocks` and `threadsPerBlock` may be 0. */
export interface ComputeShareRequest {
  /** Time during which the host launches, in milliseconds. */
  durationMs: number;
  /** Blocks per kernel; 0: 500 waves of them. */
  blocks: number;
  /** 0: so many that no room is left on a multiprocessor. */
  threadsPerBlock: number;
  /** Time that every block spins, in nanoseconds. */
  spinNs: number;
  /** Maximum number of launches in flight. */
  inFlight: number;
  /** Length of one of `bins`, in milliseconds of device time. */
  binMs: number;
}

/** Shares are fractions from 0 to 1 of device time, from the device's own time stamps. */
export interface ComputeShare {
  launches: number;
  /** Median duration of a kernel. */
  kernelNs: number;
  /** Share of the time between the first kernel's start and the last one's end. */
  busyShare: number;
  /** Share of each whole window of `binMs` from the first kernel's start on. The remainder after the last whole window is left out. */
  bins: number[];
}

// Start of a process

export type ContextApi = 'cuDevicePrimaryCtxRetain' | 'cuCtxCreate';

export interface StartUpRequest extends DeviceTarget {
  contextApi: ContextApi;
  /** Number of times that the primary context is released and retained again after the start. */
  recreations: number;
  /** Time on the clock of `now` to wait for before libcuda is searched. If it is null or has passed, starts at once. */
  startAtNs: number | null;
  /** Keeps the context until the process ends, like a running program, and recreates nothing. */
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
  /** Time from cuInit to the first kernel's result on the host. */
  totalNs: number;
  /** Times on the clock of `now`: the request arrived; the start began; the first result was on the host. */
  readyAtNs: number;
  beganAtNs: number;
  firstResultAtNs: number;
  /** Time to release the context that did the work; null if it is kept. */
  firstReleaseNs: number | null;
  resultCorrect: boolean;
  contextFunction: string;
  contextOwner: string | null;
  loadingMode: 'eager' | 'lazy' | null;
  /** Step in which the driver's device files were opened; `process start`: before the search for libcuda. */
  initialisedAt: 'process start' | 'load' | 'look-up' | 'cuInit' | 'unknown';
  /** Object whose functions a program gets instead of the driver's functions or libc's dlsym. */
  interposer: string | null;
  /** Whether the primary context existed before it was retained; null if the driver does not report it. */
  contextWasActive: boolean | null;
  /** PIDs in NVML's list while the context existed, and after its release; null if NVML cannot report them. */
  processesDuring: number[] | null;
  processesAfter: number[] | null;
  /** Free memory of the GPU that NVML reports at the same two times. */
  gpuFreeDuringBytes: number | null;
  gpuFreeAfterBytes: number | null;
  pid: number;
  retainNs: number[];
  releaseNs: number[];
  /** Whether cuDevicePrimaryCtxGetState reported the context as inactive after every release. */
  inactiveBetween: boolean;
  /** Whether this process left NVML's list after every release; null if NVML cannot report it. */
  leftListBetween: boolean | null;
  /** Whether the process is an MPS client. NVML lists such a process until it ends, even if its context is destroyed. */
  mpsClient: boolean;
}

// State of a GPU

export type GpuDetail = 'readings' | 'all';

export interface GpuStateRequest extends Target {
  uuid: string;
  /** `readings`: only values that change continuously and are cheap to query (the rest is null); `all`: every value. */
  detail: GpuDetail;
}

/** State of a GPU that NVML reports; null for values that it does not report. */
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
  /** Percentage of NVML's last sampling period in which a kernel ran, and in which memory was accessed. */
  gpuPercent: number | null;
  memoryPercent: number | null;
  usedBytes: number | null;
  freeBytes: number | null;
  totalBytes: number | null;
  processes: GpuProcess[] | null;
}

export interface UtilizationRequest extends Target {
  uuid: string;
  /** Time on the host's clock in microseconds since 1970; older samples of processes are left out. */
  sinceUs: number;
}

export interface ProcessUtilization {
  pid: number;
  smPercent: number;
  atUs: number;
}

/** Percentage of NVML's last sampling period in which a kernel ran. */
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

// Timing

export interface TimingRequest {
  /** Start time on the clock of `now`. If it has passed, starts at once. */
  startAtNs: number;
  windowNs: number;
  /** From one sample to the next; 0: at once. */
  periodNs: number;
}

/** One value per sample. */
export interface Timings {
  /** Relative to `startAtNs`. */
  startedNs: number;
  /** Median of loads by `ld.global.cv`, in cycles. */
  volatileCycles: number[];
  /** The same by `ld.acquire.sys`. */
  acquireCycles: number[];
  /** Time of `cuLaunchKernel`. */
  launchNs: number[];
  /** Time of `cuCtxSynchronize` with nothing to wait for. */
  syncNs: number[];
}

// Traces of blocks

export interface BlockTraceRequest {
  /** Start time on the clock of `now`. If it has passed, starts at once. */
  startAtNs: number;
  windowNs: number;
  /** Time during which every block watches the timer. */
  spinNs: number;
  /** If a block does not see the timer for longer than this, it did not run in that time. */
  gapNs: number;
  /** Blocks per kernel; 0: two per multiprocessor. */
  blocks: number;
  /** Maximum number of queued kernels; 0: enough to keep the device busy while the host is delayed. */
  inFlight: number;
}

/** Intervals during which a block of the tenant ran on a multiprocessor. Intervals less than `gapNs` apart are merged. */
export interface BlockTrace {
  /** Time on the device's clock; `fromNs` and `toNs` are relative to it. */
  originMs: number;
  multiprocessor: number[];
  fromNs: number[];
  toNs: number[];
  blocks: number;
}

// Two contexts of a process

export interface AlternationRequest {
  /** Number of launches of each kind. */
  count: number;
}

/** Time from the call of cuCtxSetCurrent until the launch after it has returned. */
export interface ContextAlternation {
  /** Launches in a different context than the previous launch. */
  alternatingNs: number[];
  /** Launches in the same context as the previous launch, which is made current again. */
  stayingNs: number[];
}

// Units of work

export interface WorkRequest {
  warmupMs: number;
  windowMs: number;
}

export interface Work {
  /** Duration of each timed unit, in order. */
  unitNs: Float64Array;
  /** Number of random units in which the allocated blocks were written and read back. They are verified like all others but not timed. */
  untimedUnits: number;
}

// Waits for a busy device

export interface StartDelayRequest {
  /** Start time on the clock of `now`. If it has passed, starts at once. */
  startAtNs: number;
  /** Time during which kernels are launched, one in flight. */
  windowNs: number;
  /** Mean time from one call to the next. */
  periodNs: number;
  /** Largest random shift of a call, earlier or later; must be below the period. */
  jitterNs: number;
  /** Pause after the window, before the clocks are mapped again. */
  quietNs: number;
  seed: number;
  /** Duration of a block of the kernels that this process keeps queued in other streams; 0: no such kernels. */
  holdNs: number;
  /** Number of these kernels that are kept queued, each in a stream of its own. */
  queued: number;
  /** Whether the small kernel's stream has the highest priority and the other streams the lowest. */
  prioritised: boolean;
}

export interface StartDelays {
  /** Time on the device's clock; `calledNs` is relative to it. */
  originMs: number;
  /** Time of each launch call, on the device's clock. */
  calledNs: number[];
  /** Time from each launch call to the kernel's first instruction. */
  delayNs: number[];
  /** Kernels of this process that had not ended at the call. */
  ahead: number[];
  /** Whether nothing else could start beside the kernels that this process keeps queued; null: there are none, or it could not be seen. */
  cardFull: boolean | null;
  mapping: MappingQuality;
}

// Windows of tenants

export interface WindowRequest {
  /** `launch` is timed without the synchronisation that follows it; `allocFree` is timed as one pair. */
  operation: 'allocFree' | 'memGetInfo' | 'launch';
  /** Size of an allocation in bytes; 0: the allocation granularity. */
  bytes: number;
  /** Start time on the clock of `now`. If it has passed, starts at once. */
  startAtNs: number;
  windowNs: number;
  warmup: number;
  /** Maximum number of samples; if there are more operations, every second, fourth, … is kept. */
  mostSamples: number;
}

/** Times are relative to `startAtNs`. */
export interface TenantWindow {
  startedNs: number;
  endedNs: number;
  operations: number;
  /** For allocations: number of times that two blocks were written and read back, in addition to the operations. */
  verified: number;
  /** Device memory of this process before and after the window; null for other operations or if NVML cannot report it. */
  usedBefore: number | null;
  usedAfter: number | null;
  /** Start and duration of each sample's operation. */
  atNs: Float64Array;
  tookNs: Float64Array;
}

export interface NativeAddon {
  /** Keeps a rank's part of a transformer block in the session, beside those for other numbers of ranks. */
  prepareShard(session: number, request: ShardRequest): Promise<PreparedShard>;
  /** Times steps of the block, or only its all-reduces. Rejects if work was skipped. */
  runSteps(session: number, request: StepsRequest): Promise<StepTimes>;
  /** Values that the last step computed. Rejects if matrix products are wrong. */
  sampleBlock(session: number, request: SampleRequest): Promise<BlockSample>;
  /** Keeps one shared resource of the device busy for a time. Rejects if the device did not do what the driver accepted. */
  aggressor(session: number, request: AggressorRequest): Promise<Aggression>;
  /** Number of operations of this process's aggressor that were seen to finish so far. */
  attackOperations(): number;
  /** Ends this process's aggressor at once, as if its window were over. */
  endAttack(): void;
  allocationBlock(session: number, request: AllocationRequest): Promise<AllocationBlock>;
  freeBlock(session: number, request: FreeRequest): Promise<FreeBlock>;
  /** Result code of freeing a pointer a second time. */
  doubleFree(session: number): Promise<DriverCode>;
  /** Repeats attention forward. Rejects if a launch did not run or the output is wrong. */
  attention(session: number, request: AttentionRequest): Promise<AttentionRate>;
  /** Reads, writes or copies memory for a time and reports when the device did so. */
  streamWindow(session: number, request: StreamWindowRequest): Promise<StreamWindow>;
  /** Measures how long it takes to read, write or copy a buffer that is too large for the caches. */
  stream(session: number, request: StreamRequest): Promise<StreamTimes>;
  /** Measures how long a linear layer takes for each of several batch sizes, and the memory bandwidth. Rejects if outputs are wrong. */
  batchScaling(session: number, request: BatchScalingRequest): Promise<BatchScaling>;
  /** Launches a burst of kernels without waiting in between, then waits once for all of them. */
  launchBursts(session: number, request: BurstRequest): Promise<LaunchBursts>;
  /** Makes one call of a controller on a process. Initialises the driver and creates no context. A code that is not 0 is an answer. */
  checkpointCall(request: CheckpointRequest): Promise<CheckpointAnswer>;
  /** Allocates memory with random content, a graph, a stream and an event, and holds them until checkpointRelease. Replaces what an earlier call holds. */
  checkpointHold(session: number, request: CheckpointHoldRequest): Promise<CheckpointHold>;
  /** Checks all that checkpointHold holds. Rejects if not even a first kernel runs. */
  checkpointVerify(session: number): Promise<CheckpointVerified>;
  /** Submits work of a known length to the held stream and does not wait for it. */
  checkpointWork(session: number, request: CheckpointWorkRequest): Promise<CheckpointWork>;
  /** Waits for the work, and frees what is held. */
  checkpointRelease(session: number): Promise<CheckpointHold>;
  /** Compares the clocks of this process with the system call and the processor's counter since the addon was loaded. */
  clockReading(): ClockReading;
  /** CLOCK_MONOTONIC_RAW in nanoseconds: one time base for all processes of a machine. */
  now(): number;
  timer(): TimerCalibration;
  /** Whether the session's GPU can reach another one's memory. */
  peerAccess(session: number, request: PeerRequest): Promise<PeerAccess>;
  /** Copies from the session's GPU to another one in the same process, each verified. */
  peerCopies(session: number, request: PeerCopiesRequest): Promise<PeerCopies>;
  /** Memory that other processes can copy to. */
  offerMemory(session: number, request: OfferRequest): Promise<OfferedMemory>;
  /** Copies to memory of another process, each verified. */
  copyToOffered(session: number, request: OfferedCopiesRequest): Promise<OfferedCopies>;
  /** What other processes left in the offered memory. */
  checkOffered(session: number, request: OfferedCheckRequest): Promise<OfferedCheck>;
  copyRate(session: number, request: CopyRateRequest): Promise<CopyRate>;
  sourceCopies(session: number, request: SourceCopiesRequest): Promise<SourceCopies>;
  pcieLink(session: number, request: PcieLinkRequest): Promise<PcieLink>;
  /** Creates a synthetic decoder in the session. Rejects if the logits of a small decoder with the same kernels differ from double precision. */
  prepareDecoder(session: number, request: DecoderRequest): Promise<PreparedDecoder>;
  /** Serves requests one after the other with the session's decoder. Rejects if a token is missing or work was skipped. */
  decodeTokens(session: number, request: DecodeRequest): Promise<Decoding>;
  /** Measures how fast decode attention reads a paged cache. Rejects if sampled results are wrong. */
  decodeAttentionRate(session: number, request: DecodeAttentionRequest): Promise<DecodeAttentionRate>;
  /** Frees the session's decoder. */
  dropDecoder(session: number): Promise<void>;
  /** Launches a kernel that fails in a known way and measures how long the host takes to learn of it. The context is lost. */
  detectFault(session: number, request: FaultDetectionRequest): Promise<FaultDetection>;
  /** Measures how long it takes to find all GPUs through NVML. The first pass is cold in a fresh process. */
  discovery(request: DiscoveryRequest): Promise<Discovery>;
  /** Opens libcuda.so.1 in a separate process and reports where it was found, or why not. Blocks. */
  probeDriver(request: DriverProbeRequest): DriverProbe;
  /** Versions and devices as NVML and the driver report them. Initialises both; never creates a context. */
  inspect(request: Target): Promise<Inspection>;
  /** Lists the MIG instances that NVML reports, without any CUDA call. */
  migInstances(request: Target): Promise<MigInstance[]>;
  /** Lists the processes on every MIG instance and on every card without instances, without any CUDA call. */
  processesByPlace(request: Target): Promise<PlaceProcesses[]>;
  /** Who owns each driver function on each of the four symbol paths. Makes no driver call. */
  provenance(request: Target): Promise<Provenance>;
  /** Serves sequences that arrive at random and puts all that are waiting into one batch. Rejects if outputs are wrong. */
  dynamicBatching(session: number, request: DynamicBatchingRequest): Promise<DynamicBatching>;
  /** Records the errors that NVML reports for a GPU from now on, until the process ends. */
  watchXids(request: XidRequest): Promise<XidWatch>;
  /** All errors since watchXids, in the order in which they happened. */
  seenXids(request: XidRequest): Promise<XidEvent[]>;
  /** Launches a kernel that fails in a known way and waits for it. The context is lost, as after any error. */
  raiseFault(session: number, request: FaultRequest): Promise<FaultAnswer>;
  /** Starts an endless kernel; it is running when this resolves. Kill the process to end it. */
  startEndless(session: number): Promise<EndlessKernel>;
  /** Allocates and frees repeatedly for a time. */
  allocationStorm(session: number, request: StormRequest): Promise<Storm>;
  /** Allocates until an allocation is refused, and frees nothing. */
  hoard(session: number, request: HoardRequest): Promise<Hoard>;
  /** Does rounds of work and compares every result with the expected one. */
  verifiedRounds(session: number, request: RoundsRequest): Promise<VerifiedRounds>;
  /** Runs kernels in independent streams and reports how many ran at the same time. */
  streamConcurrency(session: number, request: ConcurrencyRequest): Promise<StreamConcurrency>;
  /** Walks a working set for a time and says how long each load took. The set stays in memory, for later calls with the same size and blocks, until the session ends. */
  chase(session: number, request: ChaseRequest): Promise<Chase>;
  /** The same of one walk of so many passes, after nothing else. */
  chasePasses(session: number, request: ChasePassesRequest): Promise<Chase>;
  launchBlock(session: number, request: LaunchRequest): Promise<LaunchBlock>;
  /** Measures each launch call; the launches are far enough apart that no limiter has to delay them. */
  pacedLaunches(session: number, request: PacedLaunchRequest): Promise<PacedLaunches>;
  /** Reports what the process can learn about its layer by experiment. Every granted allocation is freed at once. */
  probeLayer(session: number, request: LayerProbeRequest): Promise<LayerProbe>;
  /** Searches memory that this process never wrote for a tag, or writes the tag first. The memory stays allocated until releaseSurfaces. */
  visitSurface(session: number, request: SurfaceRequest): Promise<SurfaceFound>;
  /** Frees the memory that visitSurface allocated. */
  releaseSurfaces(session: number): Promise<Released>;
  /** Memory as cuMemGetInfo reports it to this process. */
  tenantMemory(session: number): Promise<TenantMemory>;
  /** Leaves tagged blocks open to attacks. */
  layBait(session: number, request: BaitRequest): Promise<Bait>;
  /** Tries to read the memory of another process. After the attack `address` this process is unusable. */
  attackMemory(session: number, request: AttackRequest): Promise<AttackAnswer>;
  /** Keeps kernels of one shape running from a given time on and reports how much work was done in each bin of device time. */
  load(session: number, request: LoadRequest): Promise<Load>;
  gemmRates(session: number, request: GemmRatesRequest): Promise<GemmRates>;
  /** Allocates memory on one path and holds it until `releaseMemory`. */
  fillMemory(session: number, request: MemoryFillRequest): Promise<MemoryFill>;
  /** Allocates and frees blocks of random sizes. Holds what is left until `releaseMemory`. */
  churnMemory(session: number, request: MemoryChurnRequest): Promise<MemoryChurn>;
  largestBlock(session: number, request: LargestBlockRequest): Promise<LargestBlock>;
  releaseMemory(session: number): Promise<MemoryReleased>;
  timeRefusals(session: number, request: RefusalsRequest): Promise<Refusals>;
  /** Exports the memory held by cuMemAlloc for another process. */
  exportMemory(session: number): Promise<ExportedMemory>;
  /** Maps memory that another process exported and holds it until `releaseMemory`. */
  importMemory(session: number, request: ImportRequest): Promise<MemoryFill>;
  /** Memory as reported by the functions that a program finds; a layer may answer them. */
  reportedMemory(session: number): Promise<ReportedMemory>;
  /** Commits and releases pages in rounds. A first round is not timed. */
  pageRounds(session: number, request: PageRoundsRequest): Promise<PageRounds>;
  poolPairs(session: number, request: PoolPairsRequest): Promise<PoolPairs>;
  poolRefusal(session: number, request: PoolRefusalRequest): Promise<PoolRefusal>;
  /** Allocates a block and holds it until freeLarge or the next call. */
  allocateLarge(session: number, request: LargeAllocationRequest): Promise<LargeAllocation>;
  freeLarge(session: number): Promise<LargeFree>;
  /** Lists the GPUs that NVML reports, without any CUDA call. */
  listGpus(request: Target): Promise<ListedGpu[]>;
  /** Starts a thread that samples a GPU at an interval, without any CUDA call. Resolves when it has started. */
  startMonitor(request: MonitorRequest): Promise<MonitorId>;
  /** Samples since the last call. */
  takeSamples(request: MonitorId): MonitorReport;
  /** Stops sampling. Resolves when it has stopped; its samples can still be taken. */
  stopMonitor(request: MonitorId): Promise<void>;
  /** Stops a monitor and discards its samples. */
  dropMonitor(request: MonitorId): void;
  /** Runs a kernel on inputs that follow from a seed, each time on others, and keeps what it wrote. */
  kernelOutputs(session: number, request: OutputsRequest): Promise<Outputs>;
  /** An output of the last `kernelOutputs`. */
  keptOutput(session: number, request: KeptOutputRequest): Promise<KeptOutput>;
  /** Times cuMemAlloc and cuMemFree alternately through the program's pointers and the driver's own. */
  allocationPairs(session: number, request: AllocationPairRequest): Promise<AllocationPairs>;
  /** Function names that pairBlock accepts. */
  pairFunctions(): string[];
  pairBlock(session: number, request: PairRequest): Promise<PairBlock>;
  pipelineRuns(session: number, request: PipelineRequest): Promise<PipelineRuns>;
  /** The kernel kills this process when the thread that started it ends. */
  dieWithParent(): void;
  /** Replaces this process by another program, without running anything that a library wants to run at its end. Returns only by throwing. */
  become(request: NewProgram): void;
  /** Fails in a kernel, resets the primary context, and runs a kernel: the process is not used afterwards. */
  contextReset(request: DeviceTarget): Promise<ContextReset>;
  /** Serves requests that arrive at a fixed rate, even if the previous one is not done. Rejects if a result is wrong. */
  requests(session: number, request: RequestsRequest): Promise<Requests>;
  /** Retains the device's primary context until the process ends, so that sessions on it open at once. */
  keepContext(request: DeviceTarget): Promise<void>;
  /** From now on every session of this process, and every start that it measures, is in a green context. */
  confineSessions(request: Confine): void;
  /** Waits until no other session of this process is open, then retains the device's primary context. */
  openSession(target: DeviceTarget): Promise<number>;
  /** Waits like openSession but uses no device: a turn for a measurement that other processes make. */
  openTurn(): Promise<number>;
  closeSession(session: number): Promise<void>;
  /** Stops the session's running task at its next sample; that task rejects with kind `aborted`. */
  cancel(session: number): void;
  /** Times pairs of an allocation and a free with different numbers of live blocks, in the order of `lives`. */
  liveSets(session: number, request: LiveSetRequest): Promise<LiveSetCell[]>;
  /** The unique id of a new NCCL communicator; the process stays until its ranks have joined. */
  makeCommunicatorId(session: number): Promise<CommunicatorId>;
  /** Makes the session's GPU a rank of a communicator; resolves when all ranks have joined, which may be never. */
  joinRanks(session: number, request: JoinRequest): Promise<Joined>;
  /** Ends the session's communicator; asked of all ranks. */
  leaveRanks(session: number): Promise<Joined>;
  /** How long bursts of a collective take, with every result verified; asked of all ranks at the same time. */
  collectives(session: number, request: CollectivesRequest): Promise<CollectiveTimes>;
  /** How the session's GPU is connected with another one. */
  gpuLink(session: number, request: GpuLinkRequest): Promise<GpuLink>;
  /** Keeps kernels that fill the device queued and reports the share of device time in which they ran. */
  computeShare(session: number, request: ComputeShareRequest): Promise<ComputeShare>;
  /** Measures the start of a process, split into steps. Works once per process, before any other call. */
  startUp(request: StartUpRequest): Promise<StartUp>;
  /** State of a GPU, selected by UUID, that NVML reports. Needs no session and makes no CUDA call; null if NVML does not know the GPU. */
  gpuState(request: GpuStateRequest): Promise<GpuState | null>;
  /** NVML's utilisation of a GPU and of its processes; like gpuState it needs no session. */
  gpuUtilization(request: UtilizationRequest): Promise<GpuUtilization | null>;
  /** State of the session's GPU that NVML reports; all fields are null if NVML does not know the GPU. */
  health(session: number): Promise<GpuState>;
  /** How the host waits in the session's context, from cuCtxGetFlags; null if the driver does not report it. */
  scheduling(session: number): Promise<Scheduling | null>;
  /** Memory that cuMemGetInfo reports to this process, which a layer may change; null if the call failed. */
  visibleMemory(session: number): Promise<VisibleMemory>;
  /** Samples the latency of strong loads, of a launch and of a wait for nothing. */
  probeTiming(session: number, request: TimingRequest): Promise<Timings>;
  /** Keeps blocks running for a time and reports when they ran, and on which multiprocessors. */
  blockTrace(session: number, request: BlockTraceRequest): Promise<BlockTrace>;
  /** Measures the host's cost of launching alternately in two contexts. The second context exists only during the call. */
  contextAlternation(session: number, request: AlternationRequest): Promise<ContextAlternation>;
  /** Repeats the fixed unit of work of OH-010. Rejects if a unit's results are wrong. */
  work(session: number, request: WorkRequest): Promise<Work>;
  /** Launches a small kernel at intervals and reports how long each one waited to start. */
  startDelays(session: number, request: StartDelayRequest): Promise<StartDelays>;
  /** Repeats one operation from a given time on. Several tenants do this at the same time. */
  window(session: number, request: WindowRequest): Promise<TenantWindow>;
}

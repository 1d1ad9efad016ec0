/** What tenants do beside one another. */

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

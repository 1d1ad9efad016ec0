/** Launches, and pairs of calls through a layer and past it. */

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

export interface PacedLaunches {
  /** The call alone, one a launch. */
  tookNs: number[];
  /** Places of those during which the scheduler gave the processor to others. */
  preempted: number[];
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

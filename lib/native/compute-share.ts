/** The default measurement of the compute share: one second of kernels of about 1 ms. */
import type { ComputeShareRequest } from './addon-types.js';

/** At most two blocks of 1024 threads fit on a multiprocessor, so 1000 per multiprocessor are 500 waves of 2 us. */
export const COMPUTE_SHARE: ComputeShareRequest = {
  durationMs: 1_000,
  blocks: 0,
  threadsPerBlock: 0,
  spinNs: 2_000,
  /** The host may lose its processor for that many milliseconds without a gap. */
  inFlight: 32,
  binMs: 100,
};

/** The default measurement of the compute share: one second of kernels of about 1 ms. */
import type { ComputeShareRequest } from './addon-types.js';

/** Blocks of 1024 threads leave room for at most two on a multiprocessor, so that 1000 for each are 500 waves of 2 us. */
export const COMPUTE_SHARE: ComputeShareRequest = {
  durationMs: 1_000,
  blocks: 0,
  threadsPerBlock: 1_024,
  spinNs: 2_000,
  /** So many milliseconds the host may be kept from launching without a gap. */
  inFlight: 32,
  binMs: 100,
};

/**
 * Whether MPS applied the configured limits: a daemon may silently ignore one (k8s-device-plugin issues 467 and 569,
 * dra-driver-nvidia-gpu issue 319).
 */
import { inWords } from '../../config/size.js';
import type { Probe } from '../system.js';
import type { SeenDevice } from './attestation.js';
import type { Finding } from './proof-finding.js';

/** Counts are rounded to hardware units; on a GPU with 82 SMs, 50 % gave 40. */
const ROUNDING = 0.06;
const LEAST_ROUNDING = 2;
/** A client's context counts against its own limit: about 300 MiB on an H200. */
export const CONTEXT_BYTES = 2 ** 30;

export function threadPercentage(device: SeenDevice, whole: number, percent: number): Finding {
  const proof = 'multiprocessors in the tenant against the card';
  const seen = device?.multiprocessors;
  if (seen === undefined) return { proof, passed: null, detail: 'the worker does not report it' };
  const expected = (whole * percent) / 100;
  const rounding = Math.max(LEAST_ROUNDING, ROUNDING * whole);
  const detail = `the tenant has ${seen} of ${whole}, ${percent} % was set`;
  if (seen === whole && expected + rounding >= whole)
    return { proof, passed: null, detail: `${detail}: so close to the card's number that rounding could explain it` };
  return {
    proof,
    passed: seen < whole && Math.abs(seen - expected) <= rounding,
    detail,
    advice: 'Check server.log of the daemon: it may have refused CUDA_MPS_ACTIVE_THREAD_PERCENTAGE.',
  };
}

/** The total remains the card's: MPS only limits the free memory. */
export function pinnedMemory(probe: Probe | null, cardBytes: number, limit: number): Finding {
  const proof = 'free memory in the tenant against its pinned limit';
  const free = probe?.visibleFreeBytes ?? null;
  if (free === null) return { proof, passed: null, detail: 'the worker was not queried' };
  const detail = `the tenant is shown ${inWords(free)} free, the limit is ${inWords(limit)}`;
  const advice =
    'Check server.log of the daemon: it may have refused CUDA_MPS_PINNED_DEVICE_MEM_LIMIT, which names devices by index.';
  if (free > limit) return { proof, passed: false, detail, advice };
  if (limit > cardBytes - CONTEXT_BYTES || free < limit - CONTEXT_BYTES)
    return { proof, passed: null, detail: `${detail}: other causes could explain it` };
  return { proof, passed: true, detail };
}

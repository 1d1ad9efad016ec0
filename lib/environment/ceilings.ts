/** What a GPU can at most do, from its architecture; a result beyond it is a mistake in counting. */
import type { GpuInfo } from '../document.js';

/**
 * Fused multiply-adds per clock and multiprocessor of the tensor cores, dense FP16 and BF16, by compute capability.
 * CUDA C++ Programming Guide, arithmetic instructions; architecture white papers.
 */
const tensorFma: Record<string, number> = { '7.0': 512, '7.5': 512, '8.0': 1024, '8.6': 512, '8.9': 512, '9.0': 2048 };

/** No NVIDIA GPU is clocked higher; used where a document does not hold the card's own highest clock. */
const HIGHEST_CLOCK_MHZ = 3_500;

/** Dense FP16 TFLOPS, null for an architecture that is not listed. */
export function tensorCeilingTflops({
  computeCapability,
  multiprocessors,
  maxSmClockMhz,
}: Pick<GpuInfo, 'computeCapability' | 'multiprocessors' | 'maxSmClockMhz'>): number | null {
  if (!Object.hasOwn(tensorFma, computeCapability)) return null;
  const clockMhz = maxSmClockMhz ?? HIGHEST_CLOCK_MHZ;
  return (multiprocessors * (tensorFma[computeCapability] as number) * 2 * clockMhz * 1e6) / 1e12;
}

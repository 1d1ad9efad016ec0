/** Peak rates of GPUs by architecture; a result above them is a counting error. */
import type { GpuInfo } from '../results/document.js';

/**
 * Fused multiply-adds of the tensor cores per clock and multiprocessor, dense FP16 and BF16, by compute capability.
 * CUDA C++ Programming Guide, arithmetic instructions; architecture white papers.
 */
const tensorFma: Record<string, number> = { '7.0': 512, '7.5': 512, '8.0': 1024, '8.6': 512, '8.9': 512, '9.0': 2048 };

/** The same for CUDA cores in single precision. */
const singleFma: Record<string, number> = {
  '7.0': 64,
  '7.5': 64,
  '8.0': 64,
  '8.6': 128,
  '8.9': 128,
  '9.0': 128,
  '10.0': 128,
  '10.3': 128,
  '12.0': 128,
  '12.1': 128,
};

/** The same for FP8 on tensor cores. */
const fp8Fma: Record<string, number> = { '8.9': 1024, '9.0': 4096 };

/** Higher than the clock of any NVIDIA GPU; used if a document lacks the card's own maximum. */
const HIGHEST_CLOCK_MHZ = 3_500;

export type SmClock = Pick<GpuInfo, 'computeCapability' | 'multiprocessors' | 'maxSmClockMhz'>;

const ceilingBy =
  (fma: Record<string, number>) =>
  ({ computeCapability, multiprocessors, maxSmClockMhz }: SmClock): number | null => {
    if (!Object.hasOwn(fma, computeCapability)) return null;
    const clockMhz = maxSmClockMhz ?? HIGHEST_CLOCK_MHZ;
    return (multiprocessors * (fma[computeCapability] as number) * 2 * clockMhz * 1e6) / 1e12;
  };

/** Dense FP16 and BF16 TFLOPS; null for an unlisted architecture. */
export const tensorCeilingTflops = ceilingBy(tensorFma);

/** Single-precision TFLOPS of CUDA cores; null for an unlisted architecture. */
export const fp32CeilingTflops = ceilingBy(singleFma);

/** Dense FP8 TFLOPS; null for an unlisted architecture. */
export const fp8CeilingTflops = ceilingBy(fp8Fma);

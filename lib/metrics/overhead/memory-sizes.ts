/** The size classes of OH-002 and OH-003, and how many blocks of each may be live. */
import { BenchError } from '../../errors/bench-error.js';
import type { Session } from '../../native/session.js';

const KIB = 1024;
const GRANULE = 2 * KIB ** 2;

interface MemoryRoom {
  /**
   * Bytes that this process may use: the least of the total and the free memory that it is told, and the free memory.
   */
  limit: number;
  sizes: number[];
}

/** 4 KiB, 64 KiB, the granule (2 MiB), 64 MiB, and min(1 GiB, limit / 8) in whole granules. */
export async function memoryRoom(session: Session): Promise<MemoryRoom> {
  const visible = await session.ask('visibleMemory');
  const { freeBytes } = await session.ask('health');
  const known = [visible.freeBytes, visible.totalBytes, freeBytes].filter((bytes) => bytes !== null);
  if (known.length === 0)
    throw new BenchError('INVALID_RESULT', 'Neither cuMemGetInfo nor NVML says how much memory there is.');
  const limit = Math.min(...known);
  const largest = Math.floor(Math.min(KIB ** 3, limit / 8) / GRANULE) * GRANULE;
  const sizes = [4 * KIB, 64 * KIB, GRANULE, 64 * KIB ** 2, largest].filter((bytes) => bytes > 0);
  return { limit, sizes: [...new Set(sizes)] };
}

/** The 2 MiB row, a metric's headline. */
export const HEADLINE_BYTES = GRANULE;

/** Live blocks of that size per path, in the pairs of OH-002 and OH-003. */
export const PAIRED_LIVE = 32;

/** min(wanted, ⌊limit / (4·size)⌋). */
export const liveBlocks = (wanted: number, bytes: number, limit: number): number =>
  Math.min(wanted, Math.floor(limit / (4 * bytes)));

/** Why a size cannot be measured here, or null. */
export function tooLarge(bytes: number, live: number, limit: number): string | null {
  if (bytes > limit / 2) return `larger than half of the ${limit} bytes this process may use`;
  return live < 2 ? 'fewer than two blocks of this size may be live at once' : null;
}

/** The surfaces of IS-005 through which the next tenant could read a tenant's memory. */
import * as v from 'valibot';
import { choice, count, text } from '../../core/details.js';
import type { Surface, SurfaceFound } from '../../../native/addon-types.js';
import { number } from '../../../results/text/plain.js';
import { askSession } from '../../../workers/session-task.js';
import type { WorkerTenant } from '../../../workers/worker-tenant.js';

/**
 * Ways to allocate the card's own memory: all hand out the same pages. The last one is always supported and takes the
 * rest.
 */
export const DEVICE_SURFACES: readonly Surface[] = [
  'cuMemAllocManaged',
  'cuMemCreate',
  'cuMemAllocAsync',
  'cuMemAlloc',
];
/** Card memory without an address. */
export const ARRAY_SURFACE: Surface = 'cuArrayCreate';
/** Scanned by more blocks than fit on the card, again and again: bytes found there are no size, only a share. */
export const CHIP_SURFACES: readonly Surface[] = ['shared memory', 'local memory', 'registers'];
export const HOST_SURFACE: Surface = 'cuMemHostAlloc';

const DEADLINE_MS = 60_000;

interface Visit {
  surface: Surface;
  mark: string;
  /** The tag to write first; empty: nothing is written. */
  fill?: string;
  mostBytes?: number;
  forMs?: number;
}

export const visit = (tenant: WorkerTenant, { surface, mark, fill = '', mostBytes = 0, forMs = 0 }: Visit) =>
  askSession(tenant, {
    name: 'visitSurface',
    request: { surface, mark, fill, mostBytes: Math.floor(mostBytes), forMs },
    deadlineMs: DEADLINE_MS,
  });

export const release = (tenant: WorkerTenant) =>
  askSession(tenant, { name: 'releaseSurfaces', request: undefined, deadlineMs: DEADLINE_MS });

const outcomeField = choice(['clean', 'leaks', 'unexplained', 'unsupported'], 'What was found there');

export type Outcome = v.InferOutput<typeof outcomeField>;

export const surfaceRow = v.strictObject({
  surface: text('Where the tag was looked for'),
  transition: text('What happened to the tenant that left it'),
  control: choice(['passed', 'failed'], 'Whether the scan finds what its own process wrote'),
  outcome: outcomeField,
  bytes: v.nullable(
    count("With another tenant's tag, on the chip summed over all scans (bytes); null if nothing was examined"),
  ),
  lookedAtBytes: v.optional(count('Examined, summed in the same way (bytes)')),
  reason: v.optional(text('Why it was not examined, or what else was observed')),
});

export type SurfaceRow = v.InferOutput<typeof surfaceRow>;

export const outcomeOf = ({ taggedBytes, otherBytes }: Pick<SurfaceFound, 'taggedBytes' | 'otherBytes'>): Outcome =>
  taggedBytes > 0 ? 'leaks' : otherBytes > 0 ? 'unexplained' : 'clean';

/** `52 %`: of the bytes that were examined, if that is the only meaningful way to say how many they are; else null. */
export function shareOnChip(surface: string, bytes: number, lookedAtBytes: number | undefined): string | null {
  if (!CHIP_SURFACES.some((one) => one === surface) || !lookedAtBytes) return null;
  return `${number(Number(((100 * bytes) / lookedAtBytes).toPrecision(2)))} %`;
}

/** Whether the scanner found everything that its own process had written there. */
export const controlOf = ({ bytes, taggedBytes }: SurfaceFound): SurfaceRow['control'] =>
  bytes > 0 && taggedBytes === bytes ? 'passed' : 'failed';

/** What a tenant leaves behind when it ends, and whether the next one finds it. */
import * as v from 'valibot';
import { count, quantity, text } from '../../core/details.js';
import type { Surface, SurfaceFound } from '../../../native/addon-types.js';
import { askSession } from '../../../workers/session-task.js';
import type { WorkerTenant } from '../../../workers/worker-tenant.js';
import type { MeasureContext } from '../../core/metric.js';
import {
  ARRAY_SURFACE,
  CHIP_SURFACES,
  controlOf,
  DEVICE_SURFACES,
  HOST_SURFACE,
  outcomeOf,
  release,
  shareOnChip,
  type SurfaceRow,
  visit,
} from './surfaces.js';
import type { Tag } from './tag.js';
import { GIB } from '../../core/units.js';

/**
 * The share of its memory that a victim fills: more than the required 80 %, so that rounding of allocations does not
 * matter.
 */
const FILLED_SHARE = 0.85;
/** Host pages: enough that some are handed out again. */
const HOST_BYTES = 64 * 2 ** 20;
/** Copied through a buffer: a part of what a tenant may allocate, like host pages. */
const ARRAY_BYTES = 64 * 2 ** 20;
/** Shows whether the driver clears memory between two allocations of one process. */
const REUSED_BYTES = 64 * 2 ** 20;
/** How long both tenants work at the same time: long enough that a late start still overlaps. */
const SWITCHING_MS = 150;
const DEADLINE_MS = 30_000;

/** Schema of the share of a victim's memory that was scanned. */
export const coverageRow = v.strictObject({
  transition: text('How the victim ended'),
  roomBytes: quantity('bytes', 'How much the victim could have filled'),
  releasedBytes: count("What it had filled of the card's memory (bytes)"),
  lookedAtBytes: count('What was scanned afterwards (bytes)'),
  certainBytes: v.nullable(
    quantity(
      'bytes',
      "The least part of that which certainly was the victim's, because nearly all free memory was scanned; null if that is not known",
    ),
  ),
});

export type Coverage = v.InferOutput<typeof coverageRow>;

/** What a process finds in memory that it freed itself: no leak, but it shows how the driver works. */
export const reuseRow = v.strictObject({
  surface: text('The way of allocating'),
  bytes: count('Examined (bytes)'),
  taggedBytes: count('With its own tag (bytes)'),
});

export type Reuse = v.InferOutput<typeof reuseRow>;

/** Bytes of the card's memory that no measurement takes; on small cards, as in tests, an eighth of the free memory. */
export const spareOf = (freeBytes: number): number => Math.min(GIB, freeBytes / 8);

/** Bytes that a tenant may take: never the card's last GiB. */
export async function roomFor({ truth }: MeasureContext, tenant: WorkerTenant): Promise<number> {
  const { freeBytes } = await askSession(tenant, { name: 'tenantMemory', request: undefined, deadlineMs: DEADLINE_MS });
  const free = (await truth?.cardMemory())?.freeBytes ?? freeBytes;
  return Math.max(0, Math.min(freeBytes, free - spareOf(free)));
}

export class Victim {
  readonly tenant: WorkerTenant;
  readonly #tag: Tag;
  readonly #filled = new Map<Surface, SurfaceFound>();
  roomBytes = 0;

  constructor(tenant: WorkerTenant, tag: Tag) {
    this.tenant = tenant;
    this.#tag = tag;
  }

  /** Fills every surface; the ways to allocate the card's memory divide it among them. */
  async fill(context: MeasureContext): Promise<void> {
    this.roomBytes = await roomFor(context, this.tenant);
    await this.#fill(ARRAY_SURFACE, ARRAY_BYTES);
    for (const [i, surface] of DEVICE_SURFACES.entries()) {
      const left = FILLED_SHARE * this.roomBytes - this.releasedBytes;
      await this.#fill(surface, left / (DEVICE_SURFACES.length - i));
    }
    await this.#fill(HOST_SURFACE, HOST_BYTES);
    await this.fillChip();
  }

  async fillChip(forMs = 0): Promise<void> {
    for (const surface of CHIP_SURFACES) await this.#fill(surface, 0, forMs);
  }

  /** Writes, frees and allocates again in a single process. */
  async reuse(): Promise<Reuse[]> {
    const found: Reuse[] = [];
    const { tag: fill, mark } = this.#tag;
    for (const surface of DEVICE_SURFACES) {
      await visit(this.tenant, { surface, mark, fill, mostBytes: REUSED_BYTES });
      await release(this.tenant);
      const { bytes, taggedBytes } = await visit(this.tenant, { surface, mark, mostBytes: REUSED_BYTES });
      await release(this.tenant);
      found.push({ surface, bytes, taggedBytes });
    }
    return found;
  }

  filled(surface: Surface): SurfaceFound {
    return this.#filled.get(surface) ?? { bytes: 0, taggedBytes: 0, otherBytes: 0, unsupported: 'it was not filled' };
  }

  /** Bytes of the card's memory. */
  get releasedBytes(): number {
    return [ARRAY_SURFACE, ...DEVICE_SURFACES].reduce((sum, surface) => sum + this.filled(surface).bytes, 0);
  }

  async #fill(surface: Surface, mostBytes: number, forMs = 0): Promise<void> {
    const { tag: fill, mark } = this.#tag;
    this.#filled.set(surface, await visit(this.tenant, { surface, mark, fill, mostBytes, forMs }));
  }
}

function rowOf(surface: Surface, transition: string, found: SurfaceFound, victim: Victim): SurfaceRow {
  const filled = victim.filled(surface);
  const unsupported = filled.unsupported ?? found.unsupported;
  const control = unsupported === null ? controlOf(filled) : 'passed';
  if (unsupported !== null)
    return { surface, transition, control, outcome: 'unsupported', bytes: null, reason: unsupported };
  return {
    surface,
    transition,
    control,
    outcome: outcomeOf(found),
    bytes: found.taggedBytes,
    lookedAtBytes: found.bytes,
    ...(found.otherBytes > 0 && { reason: unexplained(surface, found) }),
  };
}

function unexplained(surface: Surface, { otherBytes, bytes }: SurfaceFound): string {
  const share = shareOnChip(surface, otherBytes, bytes);
  return share === null
    ? `${otherBytes} bytes are neither zero nor the tag`
    : `${share} of what was scanned is neither zero nor the tag`;
}

/** Both work at the same time: the card switches between them, or runs both. */
export async function whileBothRun(victim: Victim, attacker: WorkerTenant, { mark }: Tag, transition: string) {
  const rows: SurfaceRow[] = [];
  for (const surface of CHIP_SURFACES) {
    const [found] = await Promise.all([
      visit(attacker, { surface, mark, forMs: SWITCHING_MS }),
      victim.fillChip(Math.floor(SWITCHING_MS / CHIP_SURFACES.length)),
    ]);
    rows.push(rowOf(surface, transition, found, victim));
  }
  return rows;
}

/**
 * Called after the victim has ended. All allocation paths share the free memory and hold it until all have scanned;
 * otherwise a path that clears its memory would leave nothing for the next. The order of the paths changes, because the
 * first one gets the memory that is handed out first.
 */
export async function lookAfter(
  context: MeasureContext,
  { victim, attacker, tag, transition, first }: After,
): Promise<{ rows: SurfaceRow[]; coverage: Coverage }> {
  const look = async (surface: Surface, mostBytes = 0) => {
    const found = await visit(attacker, { surface, mark: tag.mark, mostBytes });
    return { row: rowOf(surface, transition, found, victim), bytes: found.bytes };
  };
  const onChip = [];
  for (const surface of CHIP_SURFACES) onChip.push((await look(surface)).row);
  const room = await roomFor(context, attacker);
  const free = (await context.truth?.cardMemory())?.freeBytes ?? null;
  const arrays = await look(ARRAY_SURFACE, ARRAY_BYTES);
  const rows = [arrays.row];
  let lookedAtBytes = arrays.bytes;
  for (let i = 0; i < DEVICE_SURFACES.length; i++) {
    const surface = DEVICE_SURFACES[(first + i) % DEVICE_SURFACES.length] as Surface;
    const share = Math.max(0, (room - lookedAtBytes) / (DEVICE_SURFACES.length - i));
    const { row, bytes } = await look(surface, share);
    lookedAtBytes += bytes;
    rows.push(row);
  }
  rows.push((await look(HOST_SURFACE, HOST_BYTES)).row);
  await release(attacker);
  const { releasedBytes, roomBytes } = victim;
  const certainBytes = free === null ? null : Math.max(0, lookedAtBytes - Math.max(0, free - releasedBytes));
  return {
    rows: [...rows, ...onChip],
    coverage: { transition, roomBytes, releasedBytes, lookedAtBytes, certainBytes },
  };
}

interface After {
  victim: Victim;
  attacker: WorkerTenant;
  tag: Tag;
  transition: string;
  /** Index of the path that comes first. */
  first: number;
}

/**
 * Targets of the CKPT metrics: fresh processes that hold memory and are checkpointed and restored twice. All metrics of
 * a round share them.
 */
import { freemem } from 'node:os';
import type { PcieLink, TenantMemory } from '../../native/addon-types.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { shuffled } from '../../stats/random.js';
import type { MeasureContext } from '../core/metric.js';
import { GIB, MIB } from '../core/units.js';
import { ALLOCATIONS, deadlineFor, inStudy, type TargetStudy, type Turn } from './target-study.js';

/** What a target holds. The last is a part of the memory that it may use. */
const SIZES = [0, GIB, 4 * GIB, 16 * GIB] as const;
const MOST_PART = 0.9;
/** A simulated card keeps its memory in the host's. */
const SIMULATED = 1 / 64;
const SIMULATED_MOST = GIB;
const TARGETS = { quick: 2, standard: 3, thorough: 8 } as const;
/** At the largest size, which takes minutes. */
const LARGEST_TARGETS = { quick: 1, standard: 1, thorough: 8 } as const;
/** Allocations are whole granules. */
export const GRANULE = 2 * MIB * ALLOCATIONS;
const TURNS = 2;
/** What the process needs of the host besides the memory of its target. */
const HOST_RESERVE = 2 * GIB;

export interface HeldTarget {
  bytes: number;
  turns: Turn[];
}

export interface HeldTargets {
  targets: HeldTarget[];
  link: PcieLink;
  leftOut: { bytes: number; leftOut: string }[];
}

/** A simulated card keeps its memory in the host's. */
export const scaleOf = ({ simulatedDriver }: MeasureContext): number => (simulatedDriver === null ? 1 : SIMULATED);

/** What targets may hold of a simulated card, which keeps their memory in the host's. */
const mostOn = ({ simulatedDriver }: MeasureContext): number => (simulatedDriver === null ? Infinity : SIMULATED_MOST);

/** The host's memory that targets may take, also within the limit of this process's cgroup. */
const hostRoom = (context: MeasureContext): number =>
  Math.min(freemem(), process.availableMemory(), mostOn(context)) - HOST_RESERVE * scaleOf(context);

/** Why the host has no room for what leaves the card; null if it has. */
export function noHostRoom(context: MeasureContext, bytes: number, who: string): string | null {
  const free = hostRoom(context);
  return bytes <= free
    ? null
    : `the host has too little memory: ${who} takes ${formatBytes(bytes)} of it, of which ${formatBytes(free)} may be taken`;
}

/** Bytes that a process may allocate, and that are too few. */
export interface NoRoom {
  room: number;
}

/** The largest target of all is smaller than what may be allocated. */
export const hasRoom = (bytes: number, room: number): boolean => bytes <= MOST_PART * room;

export const noRoom = (bytes: number, { room }: NoRoom): string =>
  `a target holds ${formatBytes(bytes)}, and ${formatBytes(room)} may be allocated`;

/** The targets of every size, in random order. */
export const heldTargets = (context: MeasureContext): Promise<HeldTargets> =>
  context.once.get('held targets', () => inStudy(context, (study) => measureTargets(context, study)));

async function measureTargets(context: MeasureContext, study: TargetStudy): Promise<HeldTargets> {
  const { tier, iterations, seed } = context.options;
  const { room, link } = await pilot(context, study);
  const scale = scaleOf(context);
  const largest = Math.floor(Math.min(MOST_PART * room, mostOn(context) / 2) / GRANULE) * GRANULE;
  const sizes = [...new Set([...SIZES.map((bytes) => bytes * scale).filter((bytes) => bytes < largest), largest])];
  const targets: HeldTarget[] = [];
  const leftOut: HeldTargets['leftOut'] = [];
  const plan = sizes.flatMap((bytes) => {
    const full = noHostRoom(context, bytes, 'it');
    if (full !== null) {
      leftOut.push({ bytes, leftOut: full });
      return [];
    }
    const count = iterations ?? (bytes === largest ? LARGEST_TARGETS : TARGETS)[tier];
    return Array.from({ length: count }, () => bytes);
  });
  for (const [i, bytes] of shuffled(plan, seed).entries()) {
    context.progress(`${formatBytes(bytes)}, target ${i + 1} of ${plan.length}`, i / plan.length);
    const worker = await study.hold(bytes);
    try {
      const turns: Turn[] = [];
      for (let n = 0; n < TURNS; n++) turns.push(await study.turn(worker, bytes));
      targets.push({ bytes, turns });
    } finally {
      await worker.kill();
    }
  }
  return { targets, link, leftOut };
}

const LINK_BYTES = 64 * MIB;

/** A target that is never locked: bytes that a process of the system may allocate, and its link to the host. */
export async function pilot({ leastMemoryBytes, options: { seed } }: MeasureContext, study: TargetStudy) {
  const worker = await study.hold(0);
  const limits = { deadlineMs: deadlineFor(0) };
  try {
    const { freeBytes } = (await worker.request('tenantMemory', {}, limits)) as TenantMemory;
    const link = (await worker.request('pcieLink', { bytes: LINK_BYTES, seed }, limits)) as PcieLink;
    return { room: Math.min(freeBytes, leastMemoryBytes ?? Infinity), freeBytes, link };
  } finally {
    await worker.kill();
  }
}

/**
 * Limits of a client of MPS that no variable of its pod states, read back in the process. NVIDIA's device plugin gives every client
 * the same share by its daemon's defaults: of N replicas 100/N percent of the threads and total/N of memory, both rounded down
 * (`cmd/mps-control-daemon`). What a share of threads is, multiprocessors show; the size of a memory limit shows only with the N that
 * both agree on, because the process's own context takes a part of it.
 */
import { inWords } from '../../../config/size.js';
import type { DeviceTarget } from '../../../native/addon-types.js';
import type { Worker } from '../../../workers/worker.js';
import { nvmlOf } from '../../elsewhere.js';
import { RESERVED } from '../../proof/attestation.js';
import { pinnedMemory } from '../../proof/mps-limits.js';
import type { Limits, Probe, RunState, TrueGpu } from '../../system.js';

const MIB = 2 ** 20;
/** Clients that a card can have, and so the most shares. */
const MOST_SHARES = 60;
/** Multiprocessors are given in pairs: 30 % of an H200's 132 were 38. */
const PAIR = 2;
const DEADLINE_MS = 120_000;

/** What a process in the pod sees. */
interface Share {
  multiprocessors: number;
  probe: Probe;
  /** Free memory of the whole card, which NVML shows to clients as well; null: it does not. */
  cardFreeBytes: number | null;
}

export interface ReadBack extends Limits {
  /** What every later process has to see too. */
  multiprocessors: number;
  /** The limits in words. */
  text: string;
  /** Why a limit that may be there is not adopted; null: none is missing. */
  doubt: string | null;
}

/** Asks a worker, which gets a context on the card with this UUID. */
export async function lookAtShare(
  worker: Worker,
  uuid: string,
  { target, signal }: Pick<RunState, 'target' | 'signal'>,
): Promise<Omit<Share, 'multiprocessors'>> {
  const options = { deadlineMs: worker.patienceMs ?? DEADLINE_MS, ...(signal && { signal }) };
  const on: DeviceTarget = { ...target, device: uuid, path: 'runtime' };
  const probe = await worker.request('probeLayer', { allocations: [], on: worker.targetIn(on) }, options);
  const state = await nvmlOf(worker, target, uuid).state();
  return { probe: probe as Probe, cardFreeBytes: state?.freeBytes ?? null };
}

/** `gpu`: the card as a process outside MPS shows it. */
export function readBack(share: Share, gpu: TrueGpu): ReadBack {
  const { multiprocessors } = share;
  const isPart = multiprocessors < gpu.multiprocessors;
  const isLimited = limitsMemory(share, gpu);
  const byThreads = isPart ? shares((each) => hasThreads(multiprocessors, gpu, each)) : [];
  const byMemory = isLimited ? shares((each) => hasMemory(share, gpu, each)) : [];
  const [count, ...more] = byThreads.filter((each) => byMemory.includes(each));
  if (count !== undefined && more.length === 0) {
    const limits = limitsOf(count, gpu);
    const sizes = `${limits.smPercent} % of the threads and ${inWords(limits.memoryBytes)}`;
    return { multiprocessors, ...limits, text: `1 of ${count} equal shares, ${sizes}`, doubt: null };
  }
  const percent = Math.round((100 * multiprocessors) / gpu.multiprocessors);
  const smPercent = percent >= 1 && percent < 100 ? percent : null;
  const doubt =
    isPart || isLimited !== false
      ? `No memory limit is adopted: the process sees ${multiprocessors} of ${gpu.multiprocessors} multiprocessors (${sharesText(byThreads)}) and ${freeText(share, isLimited)}${isLimited ? ` (${sharesText(byMemory)})` : ''}, which does not show one number of equal shares.`
      : null;
  const text = smPercent === null ? 'none' : `${smPercent} % of the multiprocessors, no memory limit`;
  return { multiprocessors, smPercent, memoryBytes: null, text, doubt };
}

/** Without a process outside MPS nothing says what the shares are of. */
export const unknownCard = (multiprocessors: number): ReadBack => ({
  multiprocessors,
  smPercent: null,
  memoryBytes: null,
  text: 'none: no process outside MPS shows the whole card',
  doubt:
    'The limits that the daemon of MPS gives its clients are not adopted: no process outside MPS shows the whole card. Give a pod that does (truth=FILE).',
});

const limitsOf = (count: number, { memoryBytes }: TrueGpu) => ({
  smPercent: Math.floor(100 / count),
  memoryBytes: Math.floor(memoryBytes / count / MIB) * MIB,
});

function shares(fits: (count: number) => boolean): number[] {
  return Array.from({ length: MOST_SHARES - 1 }, (_, index) => index + 2).filter(fits);
}

function hasThreads(seen: number, gpu: TrueGpu, count: number): boolean {
  return Math.abs(seen - (gpu.multiprocessors * limitsOf(count, gpu).smPercent) / 100) <= PAIR;
}

/** Whether the process is shown less free memory than the card has; null: that is not known. */
function limitsMemory({ probe: { visibleFreeBytes: free }, cardFreeBytes }: Share, gpu: TrueGpu): boolean | null {
  if (free === null || cardFreeBytes === null) return null;
  return free < cardFreeBytes - RESERVED * gpu.memoryBytes;
}

function hasMemory({ probe, cardFreeBytes }: Share, gpu: TrueGpu, count: number): boolean {
  const { memoryBytes } = limitsOf(count, gpu);
  // What the card no longer has is not shown as free, whatever the limit.
  return memoryBytes < (cardFreeBytes ?? 0) && pinnedMemory(probe, gpu.memoryBytes, memoryBytes).passed === true;
}

/** More shares are smaller ones, so that the numbers that fit follow each other. */
function sharesText(counts: readonly number[]): string {
  const [first, last] = [counts[0], counts.at(-1)];
  if (first === undefined) return 'no equal share';
  return first === last ? `1 of ${first}` : `1 of ${first} to ${last}`;
}

function freeText({ probe: { visibleFreeBytes: free }, cardFreeBytes }: Share, isLimited: boolean | null): string {
  if (free === null) return 'no free memory, which the driver does not tell';
  if (cardFreeBytes === null) return `${inWords(free)} of free memory, beside which NVML tells nothing of the card`;
  return isLimited
    ? `${inWords(free)} of the card's ${inWords(cardFreeBytes)} of free memory`
    : "the card's free memory";
}

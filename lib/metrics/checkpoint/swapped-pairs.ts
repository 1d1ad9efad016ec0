/** Two targets that do not fit on the card together and take turns on it, for CKPT-007. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckpointVerified, PcieLink } from '../../native/addon-types.js';
import { loadAddon } from '../../native/load.js';
import type { GroundTruth } from '../../native/ground-truth.js';
import type { Worker } from '../../workers/worker.js';
import type { MeasureContext } from '../core/metric.js';
import { FIRST_ID } from '../tenants/scene.js';
import { GRANULE, pilot } from './held-targets.js';
import { inStudy, type Move, type TargetStudy } from './target-study.js';

/** Part of what a tenant may allocate: more than half, and room for contexts. */
const PART = 0.6;
const BETWEEN_READINGS_MS = 5;

export interface Swap {
  /** From the call of the lock of the one to the first result of the other. */
  tookNs: number;
  move: Move;
  firstResultNs: number;
  verified: CheckpointVerified;
  /** NVML: memory of the card in use before, and the most meanwhile; null: not known. */
  usedBytes: { before: number | null; most: number | null };
}

export interface Swaps {
  bytes: number;
  swaps: Swap[];
  link: PcieLink;
  /** NVML: null if it is not known. */
  totalBytes: number | null;
}

/** What a pair needs, and what there is. */
interface NoPair {
  why: string;
}

interface Plan {
  swaps: number;
  /** Why a pair that holds so many bytes each cannot be measured; null: it can. */
  refused: (bytes: number, cardBytes: number) => string | null;
}

export const swapsOf = (context: MeasureContext, plan: Plan): Promise<Swaps | NoPair> =>
  inStudy(context, async (study, scene) => {
    const { room, link, freeBytes } = await pilot(context, study);
    const bytes = Math.floor((PART * room) / GRANULE) * GRANULE;
    const card = await context.truth?.cardMemory();
    const why = plan.refused(bytes, card?.freeBytes ?? freeBytes);
    if (why !== null) return { why };
    const pair: Worker[] = [];
    try {
      const first = await study.hold(bytes);
      pair.push(first);
      await study.call('lock', first, bytes);
      await study.call('checkpoint', first, bytes);
      pair.push(await study.hold(bytes, await scene.startOf({ id: FIRST_ID + 1 })));
      const swaps: Swap[] = [];
      for (let i = 0; i < plan.swaps; i++) {
        context.progress(`swap ${i + 1} of ${plan.swaps}`, i / plan.swaps);
        const [away, here] = i % 2 === 0 ? pair : [...pair].reverse();
        swaps.push(await swapOnce(context, study, { away: away as Worker, here: here as Worker, bytes }));
      }
      return { bytes, swaps, link, totalBytes: card?.totalBytes ?? null };
    } finally {
      for (const worker of pair) await worker.kill();
    }
  });

interface Pair {
  away: Worker;
  here: Worker;
  bytes: number;
}

async function swapOnce({ truth }: MeasureContext, study: TargetStudy, { away, here, bytes }: Pair): Promise<Swap> {
  const before = (await truth?.cardMemory())?.usedBytes ?? null;
  const watched = watch(truth);
  const lock = await study.call('lock', here, bytes);
  const checkpoint = await study.call('checkpoint', here, bytes);
  const restore = await study.call('restore', away, bytes);
  const unlock = await study.call('unlock', away, bytes);
  const askedNs = loadAddon().now();
  const verified = await study.verify(away, bytes);
  const { firstResultNs } = verified;
  const usedBytes = { before, most: await watched() };
  const move = { lock, checkpoint, restore, unlock };
  return { tookNs: askedNs + firstResultNs - lock.fromNs, move, firstResultNs, verified, usedBytes };
}

/** Reads the memory in use until it is called; answers the most of it. */
function watch(truth: GroundTruth | null): () => Promise<number | null> {
  let isOver = false;
  let most: number | null = null;
  const reading = (async () => {
    while (!isOver && truth) {
      const { usedBytes = null } = (await truth.cardMemory()) ?? {};
      if (usedBytes !== null) most = Math.max(most ?? 0, usedBytes);
      await sleep(BETWEEN_READINGS_MS);
    }
  })();
  reading.catch(() => undefined); // awaited when it is over
  return async () => {
    isOver = true;
    await reading;
    return most;
  };
}

/** How long loads take that hit the L2 cache and that miss it, which a tenant finds out before its neighbours come. */
import * as v from 'valibot';
import { count, described, rows } from '../core/details.js';
import type { Chase } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { GRACE_MS } from '../bandwidth/streams.js';
import { NS_PER_MS } from '../core/units.js';
import {
  type Latency,
  LEAST_RATIO,
  ratioOf,
  type Scale,
  scaleDetails,
  scaleOf,
  type Summary,
  summary,
  summaryFields,
  walksOf,
} from './latencies.js';

/** Sizes of working sets, in eighths of the L2 cache: one that it holds, and one of which it holds next to nothing. */
const HELD = 1;
const BEYOND = 64;
const SWEEP: Record<Tier, readonly number[]> = {
  quick: [HELD, BEYOND],
  standard: [HELD, 2, 4, 8, 16, BEYOND],
  thorough: [HELD, 2, 4, 6, 8, 12, 16, 32, BEYOND],
};
const WINDOW_MS = 40;
const MOST_HITS_BEYOND = 20;

interface WorkingSet extends Summary {
  ofL2: number;
  bytes: number;
}

export interface Calibration {
  l2Bytes: number;
  scale: Scale;
  /** Working sets of several sizes, each alone. */
  workingSets: WorkingSet[];
}

export const workingSetRow = v.strictObject({
  ofL2: described(v.number(), 'Its size, divided by that of the L2 cache'),
  bytes: count('Its size (bytes)'),
  ...summaryFields,
});

export const l2Bytes = count('Size of the L2 cache (bytes)');

/** Schema of a calibration of a card whose hits and misses cannot be told apart. */
export const calibrationDetails = v.optional(
  described(
    v.strictObject({
      l2Bytes,
      scale: scaleDetails,
      workingSets: rows(workingSetRow, 'A row per size of a working set, walked alone'),
    }),
    'What was found where hits and misses take about as long, so that there is no value',
  ),
);

export const latenciesIn = (chase: Chase): Latency[] =>
  walksOf(chase, chase.originMs).flatMap(({ latencies }) => latencies);

/** A walk by one tenant for itself. */
export const chaseAlone = (worker: WorkerTenant, eighths: number, windowMs: number, blocks = 0): Promise<Chase> =>
  askSession(worker, {
    name: 'chase',
    request: { eighths, blocks, startAtNs: 0, windowNs: windowMs * NS_PER_MS },
    deadlineMs: windowMs + GRACE_MS,
  });

export async function calibrate(worker: WorkerTenant, tier: Tier): Promise<Calibration> {
  const walked: { eighths: number; chase: Chase; latencies: Latency[] }[] = [];
  for (const eighths of SWEEP[tier]) {
    const chase = await chaseAlone(worker, eighths, WINDOW_MS);
    walked.push({ eighths, chase, latencies: latenciesIn(chase) });
  }
  const [held, beyond] = [walked[0], walked.at(-1)] as [(typeof walked)[0], (typeof walked)[0]];
  const scale = scaleOf(held.latencies, beyond.latencies);
  const workingSets = walked.map(({ eighths, chase, latencies }) => ({
    ofL2: eighths / 8,
    bytes: chase.bytes,
    ...summary(latencies, scale),
  }));
  return { l2Bytes: held.chase.l2Bytes, scale, workingSets };
}

/** Why nothing about this card's cache can be measured; null: it can be. */
export function indistinct({ scale }: Calibration): string | null {
  const ratio = ratioOf(scale);
  if (ratio >= LEAST_RATIO) return null;
  const [hit, miss] = [scale.hits.at(-1)?.ns ?? Number.NaN, scale.missNs].map((ns) => ns.toPrecision(3));
  return `a load that misses the L2 cache takes ${miss} ns and one that hits it ${hit} ns: less than ${LEAST_RATIO} times as long`;
}

export function missesBeyond({ workingSets }: Calibration): Check {
  const { hitPercent, ofL2 } = workingSets.at(-1) as WorkingSet;
  return {
    name: `at most ${MOST_HITS_BEYOND} % hits in a working set of ${ofL2} times the cache`,
    passed: hitPercent !== null && hitPercent <= MOST_HITS_BEYOND,
    detail: `${hitPercent?.toPrecision(3) ?? 'no'} %`,
  };
}

/** A tenant that walks a working set, alone and beside neighbours that read memory, in turn. */
import type { Chase, StreamWindow } from '../../native/addon-types.js';
import type { Scene } from '../../workers/scene.js';
import { sessionTaskOf } from '../../workers/session-task.js';
import type { Task, WorkerTenant } from '../../workers/worker-tenant.js';
import { GRACE_MS, LEADS, streamTask } from '../bandwidth/streams.js';
import { withMoreLead } from '../tenants/more-lead.js';
import { NS_PER_MS } from '../core/units.js';
import { chaseAlone } from './calibration.js';
import { type Latency, type Walk, walksOf } from './latencies.js';

/** What neighbours do: read four times the cache over and over, or walk a quarter of it as the victim does. */
export type Neighbours = 'stream' | 'chase';

const STREAMED_OF_L2 = 4;
const CHASED_EIGHTHS = 2;
/** Neighbours go on for longer, so that the victim ends beside them. */
const MARGIN_MS = 100;
/** Lead times, tried in turn until every neighbour runs beside the victim. */
const MORE_LEADS = [LEADS, 6 * LEADS];
/** Windows in which intervals are drawn. */
export const BIN_MS = 20;

export interface Victim {
  eighths: number;
  /** 0: one a multiprocessor. */
  blocks: number;
}

export interface BlockTimes {
  aloneMs: number;
  togetherMs: number;
  /** Blocks alone, together, together, alone. */
  turns: number;
}

/** What the victim did, in bins of the time that counts. */
export interface Blocks {
  /** Neighbours have contexts and do nothing. */
  idle: Latency[][];
  together: Latency[][];
  /** How many kernels of each neighbour ran in the time that counts, for each block together. */
  neighbourKernels: number[][];
}

type Kernels = Pick<Chase | StreamWindow, 'originMs' | 'fromNs' | 'toNs'>;

const spansOf = ({ originMs, fromNs, toNs }: Kernels, baseMs: number) =>
  fromNs.map((from, i) => ({
    fromNs: from + (originMs - baseMs) * NS_PER_MS,
    toNs: (toNs[i] as number) + (originMs - baseMs) * NS_PER_MS,
  }));

function binned(walks: readonly Walk[]): Latency[][] {
  const bins = new Map<number, Latency[]>();
  for (const { fromNs, toNs, latencies } of walks) {
    const bin = Math.floor((fromNs + toNs) / 2 / (BIN_MS * NS_PER_MS));
    bins.set(bin, [...(bins.get(bin) ?? []), ...latencies]);
  }
  return [...bins.values()];
}

/** Walks of the victim that lie in the time in which every neighbour ran, and how many kernels of each did so then. */
export function besideAll(victim: Chase, others: readonly Kernels[]): { walks: Walk[]; kernels: number[] } {
  const baseMs = Math.min(victim.originMs, ...others.map(({ originMs }) => originMs));
  const spans = others.map((other) => spansOf(other, baseMs));
  const from = Math.max(...spans.map((all) => all[0]?.fromNs ?? Number.POSITIVE_INFINITY));
  const to = Math.min(...spans.map((all) => all.at(-1)?.toNs ?? Number.NEGATIVE_INFINITY));
  const walks = walksOf(victim, baseMs).filter(({ fromNs, toNs }) => fromNs >= from && toNs <= to);
  const [first, last] = [walks[0]?.fromNs ?? 0, walks.at(-1)?.toNs ?? 0];
  const kernels = spans.map((all) => all.filter(({ fromNs, toNs }) => fromNs < last && toNs > first).length);
  return { walks, kernels };
}

const chaseTask = ({ eighths, blocks }: Victim, windowMs: number): Task =>
  sessionTaskOf('chase', { eighths, blocks, windowNs: windowMs * NS_PER_MS });

const neighbourTask = (kind: Neighbours, l2Bytes: number, windowMs: number): Task =>
  kind === 'stream'
    ? streamTask({ kind: 'read', bytes: STREAMED_OF_L2 * l2Bytes, windowMs })
    : chaseTask({ eighths: CHASED_EIGHTHS, blocks: 0 }, windowMs);

interface Together {
  scene: Scene;
  worker: WorkerTenant;
  victim: Victim;
  others: readonly WorkerTenant[];
  kind: Neighbours;
  l2Bytes: number;
}

async function together({ scene, worker, victim, others, kind, l2Bytes }: Together, windowMs: number, leads: number) {
  const tasks = new Map<WorkerTenant, Task>([[worker, chaseTask(victim, windowMs)]]);
  for (const other of others) tasks.set(other, neighbourTask(kind, l2Bytes, windowMs + MARGIN_MS));
  const [own, ...rest] = await scene.releaseAll<Chase | StreamWindow>(tasks, windowMs + GRACE_MS, leads);
  return besideAll(own as Chase, rest as Kernels[]);
}

/** Loads the neighbours' kernels, and makes what stays in memory. */
export async function rehearseNeighbours(
  others: readonly WorkerTenant[],
  kind: Neighbours,
  l2Bytes: number,
): Promise<void> {
  const { method, params } = neighbourTask(kind, l2Bytes, 1);
  await Promise.all(others.map((other) => other.request({ method, params: { ...params, startAtNs: 0 } }, GRACE_MS)));
}

export async function inTurn(scenery: Together, { aloneMs, togetherMs, turns }: BlockTimes): Promise<Blocks> {
  const { worker, victim } = scenery;
  const blocks: Blocks = { idle: [], together: [], neighbourKernels: [] };
  const idle = async () => {
    const chase = await chaseAlone(worker, victim.eighths, aloneMs, victim.blocks);
    blocks.idle.push(...binned(walksOf(chase, chase.originMs)));
  };
  const busy = async () => {
    const { found } = await withMoreLead(
      MORE_LEADS,
      (leads) => together(scenery, togetherMs, leads),
      ({ kernels }) => !kernels.every((count) => count > 0),
    );
    blocks.together.push(...binned(found.walks));
    blocks.neighbourKernels.push(found.kernels);
  };
  for (let turn = 0; turn < turns; turn++) for (const block of [idle, busy, busy, idle]) await block();
  return blocks;
}

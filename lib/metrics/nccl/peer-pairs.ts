/** Copies between each ordered pair of GPUs. */
import type { GpuLink, PeerAccess, PeerWay } from '../../native/addon-types.js';
import { BenchError } from '../../errors/bench-error.js';
import { type MedianEstimate } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { rowState, type RowState } from '../core/row-state.js';
import type { GpuWorkers } from './gpu-workers.js';
import { linkBetween, pairCeiling, type Rate } from './link-ceilings.js';

const TASK_MS = 120_000;

export interface PeerPlan {
  /** Size of a copy. */
  bytes: number;
  /** Samples of the headline's copies, and of the others'. */
  count: number;
  otherCount: number;
  warmup: number;
}

interface Row {
  /** Null: see the state. */
  gbs: MedianEstimate | null;
  samples: Float64Array;
  state: RowState | null;
}

/** In both directions together, where a copy goes in each. */
export const WAYS = ['cuMemcpyPeerAsync', 'both directions at once', 'loads of a kernel', 'another process'] as const;
export type Way = (typeof WAYS)[number];

export interface Pair {
  /** Places among the workers. */
  from: number;
  to: number;
  link: GpuLink;
  access: PeerAccess;
  ceilingGbs: number | null;
  rows: Partial<Record<Way, Row>>;
}

type Measured = Pick<GpuWorkers, 'workers' | 'gpus'>;

const ask = { deadlineMs: TASK_MS };
const measuredRow = (samples: Float64Array): Row => ({ gbs: serialMedian(samples), samples, state: null });

/** Measures a row beside the headline, which may fail; but where something was not copied, no number is believed. */
async function otherRow(measure: () => Promise<Float64Array>): Promise<Row> {
  try {
    return measuredRow(await measure());
  } catch (error) {
    const state = error instanceof BenchError && error.code === 'INVALID_RESULT' ? null : rowState(error);
    if (!state) throw error;
    return { gbs: null, samples: new Float64Array(), state };
  }
}

/** Bytes a nanosecond are GB/s. */
const gbsOf = (bytes: number, deviceNs: readonly number[]): Float64Array =>
  Float64Array.from(deviceNs, (ns) => bytes / ns);

async function inProcess(worker: WorkerTenant, peer: string, way: PeerWay, plan: PeerPlan, seed: number) {
  const { bytes, warmup } = plan;
  const count = way === 'cuMemcpyPeerAsync' ? plan.count : plan.otherCount;
  const request = { peer, way, bytes, count, warmup, seed };
  const { deviceNs } = await askSession(worker, { name: 'peerCopies', request, ...ask });
  return gbsOf(way === 'both directions at once' ? 2 * bytes : bytes, deviceNs);
}

/** To memory that the other GPU's process shares, which looks at it afterwards. */
async function acrossProcesses(from: WorkerTenant, to: WorkerTenant, plan: PeerPlan, seed: number) {
  const { bytes, warmup, otherCount: count } = plan;
  const { handle } = await askSession(to, { name: 'offerMemory', request: { bytes }, ...ask });
  try {
    const request = { handle, bytes, count, warmup, seed };
    const { deviceNs, lastSeed } = await askSession(from, { name: 'copyToOffered', request, ...ask });
    const check = { name: 'checkOffered', request: { seed: lastSeed }, ...ask } as const;
    const { words, wrong } = await askSession(to, check);
    if (wrong > 0)
      throw new BenchError(
        'INVALID_RESULT',
        `A copy to another process reported success, but ${wrong} of ${words} words are not there for that process.`,
      );
    return gbsOf(bytes, deviceNs);
  } finally {
    await askSession(to, { name: 'offerMemory', request: { bytes: 0 }, ...ask });
  }
}

async function connected({ workers, gpus }: Measured, from: number, to: number): Promise<Pair> {
  const [worker, back] = [workers[from], workers[to]] as [WorkerTenant, WorkerTenant];
  const [own, peer] = [gpus[from]?.uuid ?? '', gpus[to]?.uuid ?? ''];
  const link = await linkBetween(worker, peer);
  const access = await askSession(worker, { name: 'peerAccess', request: { peer }, ...ask });
  return { from, to, link, access, ceilingGbs: pairCeiling(link, await linkBetween(back, own)), rows: {} };
}

/** All ordered pairs, not measured yet. */
export async function pairsOf(gpus: Measured): Promise<Pair[]> {
  const places = gpus.workers.map((_, place) => place);
  const pairs: Pair[] = [];
  for (const from of places) for (const to of places) if (from !== to) pairs.push(await connected(gpus, from, to));
  return pairs;
}

/** Without access only the copies, which then go through the host. */
export async function measurePair(
  { workers, gpus }: Measured,
  pair: Pair,
  plan: PeerPlan,
  seed: number,
): Promise<void> {
  const [from, to] = [workers[pair.from], workers[pair.to]] as [WorkerTenant, WorkerTenant];
  const peer = gpus[pair.to]?.uuid ?? '';
  const { rows, access } = pair;
  rows.cuMemcpyPeerAsync = measuredRow(await inProcess(from, peer, 'cuMemcpyPeerAsync', plan, seed));
  if (!access.canAccess) return;
  for (const way of ['both directions at once', 'loads of a kernel'] as const)
    rows[way] = await otherRow(() => inProcess(from, peer, way, plan, seed));
  rows['another process'] = await otherRow(() => acrossProcesses(from, to, plan, seed));
}

/** Rates in one direction, for what the links can carry. */
export const ratesOf = (pairs: readonly Pair[], name: (place: number) => string): Rate[] =>
  pairs
    .filter(({ access }) => access.canAccess)
    .flatMap(({ from, to, rows, ceilingGbs }) =>
      WAYS.flatMap((way): Rate[] => {
        const gbs = rows[way]?.gbs?.value;
        const directions = way === 'both directions at once' ? 2 : 1;
        return gbs === undefined
          ? []
          : [{ name: `${way}, ${name(from)} to ${name(to)}`, gbs: gbs / directions, ceilingGbs }];
      }),
    );

/** Processes that work together through NCCL: each is one rank with one GPU. */
import { described, rows, text } from '../core/details.js';
import * as v from 'valibot';
import type { CommunicatorId } from '../../native/addon-types.js';
import { BenchError } from '../../errors/bench-error.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import type { MeasureContext } from '../core/metric.js';
import { describedGpus, gpusFields, type GpuWorkers, Unavailable, withGpuWorkers } from './gpu-workers.js';

const TASK_MS = 60_000;
/** More are not tried: sums of their numbers are exact. */
const MOST_RANKS = 16;

export interface Ranks extends GpuWorkers {
  nccl: Pick<CommunicatorId, 'library' | 'version'>;
  /** The ranks' NCCL variables. */
  environment: Record<string, string>;
}

/**
 * The caller's NCCL variables, with these defaults: sockets only on the loopback interface, because all ranks are on
 * one host, and output that shows how the ranks are connected. NVLink multicast is always off.
 */
export function ncclEnvironment(caller: NodeJS.ProcessEnv): Record<string, string> {
  const own = Object.entries(caller).filter(
    (entry): entry is [string, string] => entry[0].startsWith('NCCL_') && entry[1] !== undefined,
  );
  // NCCL writes whole lines only to a file; standard output belongs to the worker.
  const talk = { NCCL_DEBUG: 'INFO', NCCL_DEBUG_SUBSYS: 'INIT', NCCL_DEBUG_FILE: '/dev/stderr' };
  return {
    NCCL_SOCKET_IFNAME: 'lo',
    ...('NCCL_DEBUG' in caller ? {} : talk),
    ...Object.fromEntries(own),
    NCCL_NVLS_ENABLE: '0',
  };
}

/** How the ranks are connected, from NCCL's output: `P2P/CUMEM`, `SHM/direct`. */
export const transportsIn = (log: string): string[] =>
  [...new Set([...log.matchAll(/ via ([A-Z][\w/]*)/g)].map(([, transport]) => transport as string))].sort();

/**
 * `use` gets a worker on each participating GPU, none of which has joined a communicator. Rejects with Unavailable.
 * `count`: how many of the visible GPUs take part.
 */
export function withRanks<T>(
  context: MeasureContext,
  use: (ranks: Ranks) => Promise<T>,
  count = (visible: number) => Math.min(visible, MOST_RANKS),
): Promise<T> {
  const environment = ncclEnvironment(process.env);
  const plan = { environment, count, first: communicatorId };
  return withGpuWorkers(context, plan, (gpus, nccl) => use({ ...gpus, nccl, environment }));
}

/** Schema of `describedRanks`. */
export const ranksFields = {
  ...gpusFields,
  nccl: described(
    v.strictObject({
      version: text('Its version'),
      library: text('Its file'),
      environment: described(v.record(v.string(), v.string()), 'Variables that it was started with'),
      transports: rows(v.string(), 'Transports that its log names'),
      nvlinkMulticast: text('Whether NVLink multicast was on'),
    }),
    'The library',
  ),
};

/** For the details of a result. */
export const describedRanks = (ranks: Ranks) => ({
  ...describedGpus(ranks),
  nccl: {
    version: ranks.nccl.version,
    library: ranks.nccl.library,
    environment: ranks.environment,
    transports: transportsIn(ranks.workers.map(({ worker }) => worker.log).join('\n')),
    nvlinkMulticast: 'off',
  },
});

const INSTALL =
  'install it, e.g. the pip package nvidia-nccl-cu13 or libnccl2 of the distribution, and name the folder of libnccl.so.2 in LD_LIBRARY_PATH';

/** Id of a new communicator, created by rank 0. Rejects with Unavailable if there is no NCCL. */
async function communicatorId(worker: WorkerTenant): Promise<CommunicatorId> {
  const id = await askSession(worker, { name: 'makeCommunicatorId', request: undefined, deadlineMs: TASK_MS });
  if (id.unsupported !== null) throw new Unavailable(`${id.unsupported}: ${INSTALL}`);
  if (id.failure !== null) throw new BenchError('WORKER', `${id.failure}.`);
  return id;
}

/** Under a layer that hooks dlsym, NCCL loaded at run time was seen to hang there. */
const HANG = 'known of NCCL that a program loads late under a layer that hooks dlsym: Project-HAMi/HAMi#2641';

async function joinOne(worker: WorkerTenant, request: { id: string; ranks: number; rank: number }, deadlineMs: number) {
  const who = `ncclCommInitRank on rank ${request.rank} of ${request.ranks}`;
  try {
    return (await askSession(worker, { name: 'joinRanks', request, deadlineMs })).failure;
  } catch (error) {
    if (!(error instanceof BenchError) || error.code !== 'WORKER') throw error;
    const hung = error.message.startsWith('Timed out');
    throw new BenchError('WORKER', `${who} did not return${hung ? ` (${HANG})` : ''}. ${error.message}`);
  }
}

/**
 * Creates a communicator of these workers in place of their previous one. Rejects with Unavailable if two of them share a
 * GPU.
 */
export async function join(workers: readonly WorkerTenant[], deadlineMs: number): Promise<void> {
  await Promise.all(workers.map((worker) => leave(worker)));
  const { id } = await communicatorId(workers[0] as WorkerTenant);
  const ranks = workers.length;
  const failures = await Promise.all(workers.map((worker, rank) => joinOne(worker, { id, ranks, rank }, deadlineMs)));
  const failure = failures.find((each) => each !== null);
  if (failure === undefined || failure === null) return;
  if (/duplicate gpu/i.test(failure)) throw new Unavailable(`NCCL refuses ranks that share a GPU: ${failure}`);
  throw new BenchError('WORKER', `${failure}.`);
}

async function leave(worker: WorkerTenant): Promise<void> {
  const { failure } = await askSession(worker, { name: 'leaveRanks', request: undefined, deadlineMs: TASK_MS });
  if (failure !== null) throw new BenchError('WORKER', `${failure}.`);
}

export const leaveAll = async (workers: readonly WorkerTenant[]): Promise<void> => {
  await Promise.all(workers.map(leave));
};

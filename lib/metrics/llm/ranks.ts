/** Processes that share work through NCCL: each is one rank with one GPU. */
import type { CommunicatorId, NativeDevice } from '../../native/addon-types.js';
import { BenchError } from '../../native/errors.js';
import { describe } from '../../workers/description.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import type { MeasureContext } from '../metric.js';
import { allOrFirstError, FIRST_ID, inScene, type MetricScene, targetOf } from '../scene.js';

const TASK_MS = 60_000;
/** Numbers of ranks that can share a block; they divide its columns. */
export const COUNTS: readonly number[] = [2, 4, 8, 16];

/** Why the ranks could not be started. */
export class NoRanks extends Error {}

export interface Ranks {
  scene: MetricScene;
  workers: readonly WorkerTenant[];
  /** Number of visible GPUs, of which `count` take part. */
  visible: number;
  gpus: readonly Pick<NativeDevice, 'index' | 'uuid' | 'name'>[];
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

/** The GPUs in CUDA_VISIBLE_DEVICES, in its order and up to the first invalid entry, as the driver reads it. */
export function visibleAmong<T extends Pick<NativeDevice, 'index' | 'uuid'>>(
  devices: readonly T[],
  visible: string | undefined,
): T[] {
  if (visible === undefined) return [...devices];
  const named: T[] = [];
  for (const name of visible.split(',').map((entry) => entry.trim())) {
    const found = devices.find(({ index, uuid }) =>
      /^\d+$/.test(name) ? index === Number(name) : name !== '' && uuid.startsWith(name),
    );
    if (!found || named.includes(found)) break;
    named.push(found);
  }
  return named;
}

/** The measured GPU first. */
function inRankOrder(devices: readonly NativeDevice[], measured: number | string | null): NativeDevice[] {
  const first = devices.find(({ index, uuid }) => measured === index || measured === uuid) ?? devices[0];
  return first ? [first, ...devices.filter((device) => device !== first)] : [];
}

/** How the ranks are connected, from NCCL's output: `P2P/CUMEM`, `SHM/direct`. */
export const transportsIn = (log: string): string[] =>
  [...new Set([...log.matchAll(/ via ([A-Z][\w/]*)/g)].map(([, transport]) => transport as string))].sort();

/** `use` gets a worker on each participating GPU, none of which has joined a communicator. Rejects with NoRanks. */
export function withRanks<T>(context: MeasureContext, use: (ranks: Ranks) => Promise<T>): Promise<T> {
  const environment = ncclEnvironment(process.env);
  const start = (scene: MetricScene) => scene.startWorker({ id: FIRST_ID }, 'victim', environment);
  return inScene(context, async (scene) => {
    const first = await start(scene);
    const visible = await visibleGpus(context, first);
    const gpus = visible.slice(0, COUNTS.findLast((count) => count <= visible.length) ?? 0);
    if (gpus.length === 0) throw new NoRanks(tooFew(visible));
    await scene.hold(first, (gpus[0] as NativeDevice).uuid);
    const nccl = await communicatorId(first);
    const others = await oneByOne(context.system.staggerStarts, gpus.slice(1), async ({ uuid }) => {
      const worker = await start(scene);
      await scene.hold(worker, uuid);
      return worker;
    });
    return use({ scene, workers: [first, ...others], visible: visible.length, gpus, nccl, environment });
  });
}

/** Runs all, one by one or at the same time; rejects once all have settled. */
async function oneByOne<T, R>(inTurn: boolean, all: readonly T[], begin: (one: T) => Promise<R>): Promise<R[]> {
  const begun: Promise<R>[] = [];
  for (const one of all) {
    begun.push(begin(one));
    if (inTurn) await begun.at(-1);
  }
  await allOrFirstError(begun);
  return Promise.all(begun);
}

async function visibleGpus(context: MeasureContext, worker: WorkerTenant): Promise<NativeDevice[]> {
  const { inspection, environment } = await describe(worker.worker, targetOf(context), context.signal);
  // A worker with the variable lists only the GPUs that it leaves.
  const visible = environment.CUDA_VISIBLE_DEVICES === undefined ? process.env.CUDA_VISIBLE_DEVICES : undefined;
  return inRankOrder(visibleAmong(inspection.devices, visible), context.options.device);
}

function tooFew(gpus: readonly NativeDevice[]): string {
  const [only] = gpus;
  const seen = only ? `the process sees one GPU, ${only.name}` : 'the process sees no GPU';
  const mig = only?.migMode === 'enabled' ? ' in MIG mode, of which a process sees one instance' : '';
  return `several GPUs are needed; ${seen}${mig}`;
}

const INSTALL =
  'install it, e.g. the pip package nvidia-nccl-cu13 or libnccl2 of the distribution, and name the folder of libnccl.so.2 in LD_LIBRARY_PATH';

/** Id of a new communicator, created by rank 0. Rejects with NoRanks if there is no NCCL. */
async function communicatorId(worker: WorkerTenant): Promise<CommunicatorId> {
  const id = await askSession(worker, { name: 'makeCommunicatorId', request: undefined, deadlineMs: TASK_MS });
  if (id.unsupported !== null) throw new NoRanks(`${id.unsupported}: ${INSTALL}`);
  if (id.failure !== null) throw new BenchError('WORKER', `${id.failure}.`);
  return id;
}

/** NCCL was seen to hang there if it is loaded at run time under a layer that hooks dlsym. */
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
 * Creates a communicator of these workers in place of their previous one. Rejects with NoRanks if two of them share a
 * GPU.
 */
export async function join(workers: readonly WorkerTenant[], deadlineMs: number): Promise<void> {
  await Promise.all(workers.map((worker) => leave(worker)));
  const { id } = await communicatorId(workers[0] as WorkerTenant);
  const ranks = workers.length;
  const failures = await Promise.all(workers.map((worker, rank) => joinOne(worker, { id, ranks, rank }, deadlineMs)));
  const failure = failures.find((each) => each !== null);
  if (failure === undefined || failure === null) return;
  if (/duplicate gpu/i.test(failure)) throw new NoRanks(`NCCL refuses ranks that share a GPU: ${failure}`);
  throw new BenchError('WORKER', `${failure}.`);
}

async function leave(worker: WorkerTenant): Promise<void> {
  const { failure } = await askSession(worker, { name: 'leaveRanks', request: undefined, deadlineMs: TASK_MS });
  if (failure !== null) throw new BenchError('WORKER', `${failure}.`);
}

export const leaveAll = async (workers: readonly WorkerTenant[]): Promise<void> => {
  await Promise.all(workers.map(leave));
};

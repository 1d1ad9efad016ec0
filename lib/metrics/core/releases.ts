/** Fresh processes of one tenant that are all ready before the first begins: one release and its result. */
import { BenchError } from '../../errors/bench-error.js';
import { overlap } from '../../workers/activity.js';
import type { WorkerStart } from '../../workers/start-up.js';
import type { ProcessStart } from '../../workers/launcher.js';
import { Scene } from '../../workers/scene.js';
import type { Task, WorkerTenant } from '../../workers/worker-tenant.js';
import type { MeasureContext } from './metric.js';
import { withMoreLead } from '../tenants/more-lead.js';
import { isOutOfMemory } from './row-state.js';
import { allOrFirstError, FIRST_ID, targetOf } from '../tenants/scene.js';

const DEADLINE_MS = 300_000;
/** Lead times, tried in turn until every process was ready at the release: on a busy machine requests arrive late. */
const LEADS = [1, 4, 16, 64];

/** Nanoseconds from the release. */
export interface Release {
  /** Time to the first result of each process. */
  firstResults: number[];
  /** When the last of them had its first result. */
  total: number;
  /** How much later than the release the last of them began, because of the machine's scheduling. */
  late: number;
  /** How long all of them were starting; null if one had its result before another began. */
  common: number | null;
  /** How many releases it took until all were ready in time. */
  tries: number;
  starts: WorkerStart[];
  /** Time of each process from its spawn to its first statement; all are started together, before the release. */
  spawns: number[];
}

/** There was no room for all of them; fewer may fit. */
interface NoRoom {
  noRoom: string;
}

/**
 * When this settles, every process has ended, even after an error. If a process was not ready at the release, the
 * release is repeated with new processes and more lead time. This does not bias the result, because readiness is known
 * before any process begins.
 */
export async function release(
  context: MeasureContext,
  process: ProcessStart,
  count: number,
): Promise<Release | NoRoom> {
  const { found, tries } = await withMoreLead(
    LEADS,
    (leads) => releaseOnce(context, process, count, leads),
    (outcome) => 'unready' in outcome,
  );
  if ('unready' in found)
    throw new BenchError(
      'INVALID_RESULT',
      `${found.unready} of ${count} processes were not ready at their release in each of ${tries} tries; stop other programs and measure again.`,
    );
  return 'noRoom' in found ? found : { ...found, tries };
}

type OneTry = Omit<Release, 'tries'>;

interface TooEarly {
  unready: number;
}

async function releaseOnce(
  context: MeasureContext,
  process: ProcessStart,
  count: number,
  leads: number,
): Promise<OneTry | NoRoom | TooEarly> {
  const scene = new Scene(context.signal);
  try {
    await allOrFirstError(Array.from({ length: count }, () => scene.startWorker(process)));
    const { workers } = scene;
    const tasks = new Map(workers.map((tenant) => [tenant, firstWork(context, tenant)]));
    const { startAtNs, outcomes } = await scene.release<WorkerStart>(tasks, DEADLINE_MS, leads);
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    const noRoom = noRoomIn(errors, count);
    if (noRoom) return noRoom;
    await allOrFirstError(workers.map(({ worker }) => context.prove(worker, { id: FIRST_ID })));
    const starts = outcomes.flatMap((outcome, i) =>
      outcome.status === 'fulfilled' ? [byOurClock(outcome.value, workers[i] as WorkerTenant)] : [],
    );
    return released(
      starts,
      startAtNs,
      workers.map(({ worker }) => worker.timing.spawnToMainNs),
    );
  } finally {
    await scene.stop();
  }
}

/** Each process keeps its context, like a running program, and so makes no room for the others. */
const firstWork = (context: MeasureContext, { worker }: WorkerTenant): Task => ({
  method: 'startUp',
  params: {
    ...worker.targetIn(targetOf(context)),
    contextApi: 'cuDevicePrimaryCtxRetain',
    recreations: 0,
    keep: true,
  },
});

function byOurClock(start: WorkerStart, { worker }: WorkerTenant): WorkerStart {
  const { readyAtNs, beganAtNs, firstResultAtNs } = start;
  return {
    ...start,
    readyAtNs: worker.oursNs(readyAtNs),
    beganAtNs: worker.oursNs(beganAtNs),
    firstResultAtNs: worker.oursNs(firstResultAtNs),
  };
}

/** The reason if there was no room; any other error is the metric's own. */
function noRoomIn(errors: readonly unknown[], count: number): NoRoom | null {
  if (errors.length === 0) return null;
  const full = errors.filter(isOutOfMemory);
  const [first] = full;
  if (!first || full.length < errors.length) throw errors.find((error) => !isOutOfMemory(error));
  return { noRoom: `${errors.length} of ${count} starts failed: ${first.message}` };
}

function released(starts: WorkerStart[], startAtNs: number, spawns: number[]): OneTry | TooEarly {
  const unready = starts.filter(({ readyAtNs }) => readyAtNs > startAtNs).length;
  if (unready > 0) return { unready };
  const firstResults = starts.map(({ firstResultAtNs }) => firstResultAtNs - startAtNs);
  const span = overlap(
    starts.map(({ beganAtNs, firstResultAtNs }) => ({ startNs: beganAtNs, endNs: firstResultAtNs })),
  );
  return {
    firstResults,
    total: Math.max(...firstResults),
    late: Math.max(...starts.map(({ beganAtNs }) => beganAtNs - startAtNs)),
    common: span && span.toNs - span.fromNs,
    starts,
    spawns,
  };
}

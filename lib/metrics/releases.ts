/** Fresh processes of one tenant that are all ready before the first begins: one release, and what came of it. */
import { BenchError } from '../native/errors.js';
import type { WorkerStart } from '../workers/start-up.js';
import { type TenantProcess, Tenants } from '../workers/tenants.js';
import type { MeasureContext } from './metric.js';
import { isOutOfMemory } from './row-state.js';
import { allOrFirstError, FIRST_ID } from './tenants.js';

const DEADLINE_MS = 300_000;
/** Tried in turn until every process was ready at the release: on a busy machine requests arrive late. */
const LEADS = [1, 4, 16, 64];

/** Nanoseconds from the release. */
export interface Release {
  /** Of each process, to its first result. */
  firstResults: number[];
  /** When the last of them had its first result. */
  total: number;
  /** How much later than the release the last of them began: what the machine's own scheduling took. */
  late: number;
  /** How many releases it took until one was not too early for any of them. */
  tries: number;
  starts: WorkerStart[];
}

/** There was no room for all of them; whether fewer fit is another release's affair. */
export interface NoRoom {
  noRoom: string;
}

/**
 * Whatever happens, every process has ended when this settles. A release that came too early for one of them is repeated
 * with new processes and more time before it. This favours no result: who was ready is known before anybody begins.
 */
export async function release(
  context: MeasureContext,
  process: TenantProcess,
  count: number,
): Promise<Release | NoRoom> {
  let unready = 0;
  for (const [i, leads] of LEADS.entries()) {
    const outcome = await releaseOnce(context, process, count, leads);
    if ('noRoom' in outcome) return outcome;
    if (!('unready' in outcome)) return { ...outcome, tries: i + 1 };
    unready = outcome.unready;
  }
  throw new BenchError(
    'INVALID_RESULT',
    `Of ${count} processes ${unready} were not ready at their release, also after ${LEADS.length} tries; run fewer other programs beside them.`,
  );
}

type OneTry = Omit<Release, 'tries'>;

interface TooEarly {
  unready: number;
}

async function releaseOnce(
  { options, signal, simulatedDriver, prove }: MeasureContext,
  process: TenantProcess,
  count: number,
  leads: number,
): Promise<OneTry | NoRoom | TooEarly> {
  const target = { simulatedDriver, device: options.device, path: options.path };
  const tenants = new Tenants(target, signal);
  try {
    await allOrFirstError(Array.from({ length: count }, () => tenants.addFresh(process)));
    // Each keeps its context: one that made room for the others would not be a program at work.
    const request = { ...target, contextApi: 'cuDevicePrimaryCtxRetain', recreations: 0, keep: true };
    const { startAtNs, outcomes } = await tenants.togetherSettled<WorkerStart>('startUp', request, DEADLINE_MS, leads);
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    const noRoom = noRoomIn(errors, count);
    if (noRoom) return noRoom;
    await allOrFirstError(tenants.workers.map((worker) => prove(worker, { id: FIRST_ID })));
    return released(outcomes, startAtNs);
  } finally {
    await tenants.stop();
  }
}

/** Any other error is the metric's. */
function noRoomIn(errors: readonly unknown[], count: number): NoRoom | null {
  if (errors.length === 0) return null;
  const full = errors.filter(isOutOfMemory);
  const [first] = full;
  if (!first || full.length < errors.length) throw errors.find((error) => !isOutOfMemory(error));
  return { noRoom: `${errors.length} of ${count} starts failed: ${first.message}` };
}

function released(outcomes: readonly PromiseSettledResult<WorkerStart>[], startAtNs: number): OneTry | TooEarly {
  const starts = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const unready = starts.filter(({ readyAtNs }) => readyAtNs > startAtNs).length;
  if (unready > 0) return { unready };
  const firstResults = starts.map(({ firstResultAtNs }) => firstResultAtNs - startAtNs);
  return {
    firstResults,
    total: Math.max(...firstResults),
    late: Math.max(...starts.map(({ beganAtNs }) => beganAtNs - startAtNs)),
    starts,
  };
}

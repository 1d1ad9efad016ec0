/** Locks of processes with submitted work, for CKPT-001. */
import { RUNNING } from '../../checkpoint/states.js';
import type { CheckpointVerified, CheckpointWork } from '../../native/addon-types.js';
import type { MeasureContext } from '../core/metric.js';
import { NS_PER_MS } from '../core/units.js';
import { allHold, deadlineFor, inStudy, ms } from './target-study.js';

export interface BusyLocks {
  rows: { workMs: number; lockMs: number; remainingMs: number; extraMs: number }[];
  timeout: { timeoutMs: number; lockMs: number; name: string; code: number };
  afterTimeout: { state: number | null; intact: boolean };
}

/** Device work before a lock, and a time limit that is shorter than another. */
const WORK_MS = [50, 200];
const LONG_WORK_MS = 1_000;
const TIMEOUT_MS = 100;

/** Locks of a target with submitted work. */
export const busyLocks = (context: MeasureContext): Promise<BusyLocks> =>
  context.once.get('busy locks', () =>
    inStudy(context, async (study) => {
      const worker = await study.hold(0);
      const limits = { deadlineMs: deadlineFor(0) };
      const submit = async (ms: number): Promise<number> => {
        const { submittedNs, estimatedNs } = (await worker.request('checkpointWork', { ms }, limits)) as CheckpointWork;
        return worker.oursNs(submittedNs) + estimatedNs;
      };
      try {
        const rows: BusyLocks['rows'] = [];
        for (const workMs of WORK_MS) {
          const ends = await submit(workMs);
          const lock = await study.call('lock', worker, 0);
          const [lockMs, remainingMs] = [ms(lock), (ends - lock.fromNs) / NS_PER_MS];
          await study.call('unlock', worker, 0);
          rows.push({ workMs, lockMs, remainingMs, extraMs: lockMs - remainingMs });
        }
        await submit(LONG_WORK_MS);
        const late = await study.controller.call('lock', worker.pid, {
          ...limits,
          timeoutMs: TIMEOUT_MS,
          signal: context.signal,
        });
        const { state } = await study.controller.call('state', worker.pid, limits);
        const intact =
          state === RUNNING && allHold((await worker.request('checkpointVerify', {}, limits)) as CheckpointVerified);
        const timeout = { timeoutMs: TIMEOUT_MS, lockMs: ms(late), name: late.name, code: late.code };
        return { rows, timeout, afterTimeout: { state, intact } };
      } finally {
        await worker.kill();
      }
    }),
  );

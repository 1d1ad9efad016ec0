/**
 * What the threads of this process have used, read from /proc in one go by the thread that asks: nothing of ours may run
 * while a tenant is idle.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';

const TASKS = '/proc/self/task';

export interface ThreadUse {
  tid: number;
  comm: string;
  /** Since the thread began. */
  cpuNs: number;
  /** How often it went to sleep by itself. */
  sleeps: number;
}

export interface ThreadReading {
  /** CLOCK_MONOTONIC. */
  atNs: number;
  /** Of the whole process, threads that have ended included. */
  processCpuNs: number;
  rssBytes: number;
  threads: ThreadUse[];
}

/** Null for a thread that has ended meanwhile. */
function useOf(tid: string): ThreadUse | null {
  const file = (name: string) => readFileSync(`${TASKS}/${tid}/${name}`, 'utf8');
  try {
    const cpuNs = Number(file('schedstat').split(' ')[0]);
    const sleeps = Number(/^voluntary_ctxt_switches:\s*(\d+)$/m.exec(file('status'))?.[1]);
    return { tid: Number(tid), comm: file('comm').trimEnd(), cpuNs, sleeps };
  } catch (error) {
    if (!readdirSync(TASKS).includes(tid)) return null;
    throw error;
  }
}

/** What a running thread has used is written down when it next sleeps: this one does. */
const settleAccount = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);

/** Null where /proc does not say. */
export function readThreads(): ThreadReading | null {
  settleAccount();
  const atNs = Number(process.hrtime.bigint());
  const { user, system } = process.cpuUsage();
  try {
    const threads = readdirSync(TASKS).flatMap((tid) => useOf(tid) ?? []);
    // A kernel without scheduler statistics says 0 for all.
    const known = threads.some(({ cpuNs }) => cpuNs > 0) && threads.every((thread) => Number.isFinite(thread.sleeps));
    if (!known) return null;
    return { atNs, processCpuNs: (user + system) * 1_000, rssBytes: process.memoryUsage.rss(), threads };
  } catch {
    return null;
  }
}

/**
 * The threads there are before the first driver call. Those that Node and the addon start late are started first: once a
 * layer has threads they could not be told from its own, since a thread without a name is called as its creator.
 */
export async function threadsBeforeDriver(startExecutor: () => Promise<void>): Promise<ThreadReading | null> {
  await startExecutor();
  // The first asynchronous file access starts all of libuv's pool.
  await access('/');
  return readThreads();
}

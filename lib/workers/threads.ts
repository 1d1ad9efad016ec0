/**
 * The processor use of this process's threads, read from /proc by the asking thread itself: no thread of ours may run
 * while a tenant is idle.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';

const TASKS = '/proc/self/task';

export interface ThreadUse {
  tid: number;
  comm: string;
  /** Since the thread started. */
  cpuNs: number;
  /** How often it went to sleep voluntarily. */
  sleeps: number;
}

export interface ThreadReading {
  /** CLOCK_MONOTONIC. */
  atNs: number;
  /** Processor time of the whole process, including ended threads. */
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

/** Sleeps for a moment, because the kernel updates a running thread's account only when it sleeps. */
const settleAccount = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);

/** Null if /proc does not report it. */
export function readThreads(): ThreadReading | null {
  settleAccount();
  const atNs = Number(process.hrtime.bigint());
  const { user, system } = process.cpuUsage();
  try {
    const threads = readdirSync(TASKS).flatMap((tid) => useOf(tid) ?? []);
    // A kernel without scheduler statistics reports 0 for all.
    const known = threads.some(({ cpuNs }) => cpuNs > 0) && threads.every((thread) => Number.isFinite(thread.sleeps));
    if (!known) return null;
    return { atNs, processCpuNs: (user + system) * 1_000, rssBytes: process.memoryUsage.rss(), threads };
  } catch {
    return null;
  }
}

/**
 * The threads that exist before the first driver call. Threads that Node and the addon start late are started first:
 * later they could not be distinguished from a layer's, because an unnamed thread inherits its creator's name.
 */
export async function threadsBeforeDriver(startExecutor: () => Promise<void>): Promise<ThreadReading | null> {
  await startExecutor();
  // The first asynchronous file access starts libuv's whole pool.
  await access('/');
  return readThreads();
}

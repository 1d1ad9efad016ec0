/**
 * The processor use of this process's threads and of the processes that it started, read from /proc by the asking thread
 * itself: no thread of ours may run while a tenant is idle.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';

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
  /** Threads of the processes that this one started and of their descendants; null if the kernel does not list them. */
  descendants: ThreadUse[] | null;
  /** Processor time of those that have ended and were waited for, in ticks of the scheduler. */
  endedCpuNs: number;
}

const tasksOf = (process: string) => `/proc/${process}/task`;

/** Null for a thread that has ended meanwhile. */
function useOf(tasks: string, tid: string): ThreadUse | null {
  const file = (name: string) => readFileSync(`${tasks}/${tid}/${name}`, 'utf8');
  try {
    const cpuNs = Number(file('schedstat').split(' ')[0]);
    const sleeps = Number(/^voluntary_ctxt_switches:\s*(\d+)$/m.exec(file('status'))?.[1]);
    return { tid: Number(tid), comm: file('comm').trimEnd(), cpuNs, sleeps };
  } catch (error) {
    if (!tidsIn(tasks).includes(tid)) return null;
    throw error;
  }
}

/** Empty for a process that has ended meanwhile. */
const tidsIn = (tasks: string): string[] => (existsSync(tasks) ? readdirSync(tasks) : []);

const threadsOf = (process: string): ThreadUse[] =>
  tidsIn(tasksOf(process)).flatMap((tid) => useOf(tasksOf(process), tid) ?? []);

/** Null if the kernel was built without these lists. */
function childrenOf(process: string): string[] | null {
  const lists = tidsIn(tasksOf(process)).map((tid) => `${tasksOf(process)}/${tid}/children`);
  if (!lists.every((list) => existsSync(list))) return null;
  return lists.flatMap((list) => readFileSync(list, 'utf8').split(' ').filter(Boolean));
}

function descendantsOf(process: string): ThreadUse[] | null {
  return childrenOf(process)?.flatMap((child) => [...threadsOf(child), ...(descendantsOf(child) ?? [])]) ?? null;
}

/** Length of a tick in which Linux reports times of processes, on every architecture (USER_HZ). */
const NS_PER_TICK = 10_000_000;

function endedCpuNs(): number {
  // The name before these fields may contain anything, but no later parenthesis. They are cutime and cstime.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return NS_PER_TICK * (Number(fields[13]) + Number(fields[14]));
}

/** Sleeps for a moment, because the kernel updates a running thread's account only when it sleeps. */
const settleAccount = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);

/** Null if /proc does not report it. */
export function readThreads(): ThreadReading | null {
  settleAccount();
  const atNs = Number(process.hrtime.bigint());
  const { user, system } = process.cpuUsage();
  try {
    const threads = threadsOf('self');
    // A kernel without scheduler statistics reports 0 for all.
    const known = threads.some(({ cpuNs }) => cpuNs > 0) && threads.every((thread) => Number.isFinite(thread.sleeps));
    if (!known) return null;
    return {
      atNs,
      processCpuNs: (user + system) * 1_000,
      rssBytes: process.memoryUsage.rss(),
      threads,
      descendants: descendantsOf('self'),
      endedCpuNs: endedCpuNs(),
    };
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

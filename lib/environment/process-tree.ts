/** The processes below one, as /proc shows them. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

function textOf(path: string, encoding: BufferEncoding = 'latin1'): string | null {
  try {
    return readFileSync(path, encoding);
  } catch {
    // It has ended, or belongs to somebody else.
    return null;
  }
}

function childrenOf(pid: number): number[] {
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
  return threads.flatMap((thread) =>
    (textOf(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number),
  );
}

/** PIDs of all processes below `root`, without `root` itself. */
export function processesBelow(root: number): number[] {
  const found: number[] = [];
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    const children = childrenOf(pid);
    found.push(...children);
    open.push(...children);
  }
  return found;
}

/** Whether it is gone, or only waits for its parent to read its exit code. */
export function hasEnded(pid: number): boolean {
  const status = textOf(`/proc/${pid}/status`);
  return status === null || /^State:\s+[ZX]/m.test(status);
}

/** PIDs of all processes below `root` that have not ended. */
export const livingBelow = (root: number): number[] => processesBelow(root).filter((pid) => !hasEnded(pid));

/** Resident memory of a process (VmRSS); null where it has ended. */
export const residentBytes = (pid: number): number | null => statusBytes(pid, 'VmRSS');

/** What of the process the host keeps in memory or has swapped out, bytes; null if it cannot be read. */
export function keptBytes(pid: number): number | null {
  const resident = residentBytes(pid);
  return resident === null ? null : resident + (statusBytes(pid, 'VmSwap') ?? 0);
}

function statusBytes(pid: number, field: 'VmRSS' | 'VmSwap'): number | null {
  const found = new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(textOf(`/proc/${pid}/status`) ?? '');
  return found ? 1_024 * Number(found[1]) : null;
}

export const mapsOf = (pid: number): string | null => textOf(`/proc/${pid}/maps`);

export const nameOf = (pid: number): string => textOf(`/proc/${pid}/comm`)?.trim() ?? 'unknown';

/**
 * The value of a variable when the process became its program; null where it was not set, undefined where it cannot be
 * read.
 */
export function variableOf(pid: number, name: string): string | null | undefined {
  const environment = textOf(`/proc/${pid}/environ`, 'utf8');
  if (environment === null) return undefined;
  const start = `${name}=`;
  const found = environment.split('\0').find((entry) => entry.startsWith(start));
  return found?.slice(start.length) ?? null;
}

/** What its open files are: paths, or in the form `socket:[INODE]`. Empty where it has ended or belongs to somebody else. */
export function openFilesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.map((name) => {
    try {
      return readlinkSync(`${folder}/${name}`);
    } catch {
      // It has just been closed.
      return '';
    }
  });
}

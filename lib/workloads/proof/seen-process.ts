/** A process of a program as it was seen, from outside or by the witness. */
import { basename } from 'node:path';
import type { DriverOwners } from './driver-owners.js';

export interface SeenProcess {
  pid: number;
  name: string;
  /** Paths of mapped files. */
  files: readonly string[];
  /** Whether the process has mounts of its own, as in a container: its paths are not those of this machine. */
  isElsewhere: boolean;
  /** Mount namespace of the process; null where it cannot be read, absent if it was not seen from outside. */
  mounts?: string | null;
  /** Variables of the process by which its system shows; null where one was not set, absent where it was not read. */
  variables?: Readonly<Record<string, string | null>>;
  /**
   * What the witness saw of the driver's functions; null where it could not look, because the process did not end by
   * exit(). Absent for a process that was seen from outside.
   */
  owners?: DriverOwners | null;
}

export const isDriver = (file: string): boolean => /^libcuda\.so(\.|$)/.test(basename(file));

export const isWitness = (file: string): boolean => basename(file) === 'libgvb-witness.so';

/**
 * Whether a process is a fork: it was seen from outside with the witness mapped, and the witness has no record of it.
 */
export const isForked = ({ pid, files }: SeenProcess, all: readonly SeenProcess[]): boolean =>
  files.some(isWitness) && !all.some((each) => each.pid === pid && each.owners !== undefined);

/** Whether a process has the driver or memory of a GPU mapped. */
export const usesGpu = ({ files }: Pick<SeenProcess, 'files'>): boolean =>
  files.some((file) => isDriver(file) || /^\/dev\/nvidia\d/.test(file));

/** Names a process in messages. */
export const who = ({ pid, name }: Pick<SeenProcess, 'pid' | 'name'>): string => `process ${pid} (${name})`;

/** Joins by PID what the witness and what others saw of a process. */
export function byPid(seen: readonly SeenProcess[]): Map<number, SeenProcess> {
  const processes = new Map<number, SeenProcess>();
  for (const each of seen) {
    const before = processes.get(each.pid);
    processes.set(each.pid, before ? { ...before, ...each, files: [...before.files, ...each.files] } : each);
  }
  return processes;
}

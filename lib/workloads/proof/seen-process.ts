/** A process of a program as it was seen, from outside or by the witness. */
import { basename } from 'node:path';
import type { DriverOwners } from './driver-owners.js';

export interface SeenProcess {
  pid: number;
  name: string;
  /** Mapped files. */
  files: readonly string[];
  /** It has mounts of its own, as in a container: its paths are not ours. */
  isElsewhere: boolean;
  /** Its mount namespace; null where it cannot be read, absent of what was not seen from outside. */
  mounts?: string | null;
  /** Its CUDA_MPS_PIPE_DIRECTORY; null where it was not set, absent where it was not read. */
  mpsPipes?: string | null;
  /**
   * What the witness saw of the driver's functions: null where it could not look, because the process did not end by
   * exit(). Absent of what was seen from outside.
   */
  owners?: DriverOwners | null;
}

export const isDriver = (file: string): boolean => /^libcuda\.so(\.|$)/.test(basename(file));

export const isWitness = (file: string): boolean => basename(file) === 'libgvb-witness.so';

/** Seen from outside, with a witness that has no record of it: a fork of a process that has one. */
export const isForked = ({ pid, files }: SeenProcess, all: readonly SeenProcess[]): boolean =>
  files.some(isWitness) && !all.some((each) => each.pid === pid && each.owners !== undefined);

/** It has the driver mapped, or memory of a GPU. */
export const usesGpu = ({ files }: Pick<SeenProcess, 'files'>): boolean =>
  files.some((file) => isDriver(file) || /^\/dev\/nvidia\d/.test(file));

/** For messages. */
export const who = ({ pid, name }: Pick<SeenProcess, 'pid' | 'name'>): string => `process ${pid} (${name})`;

/** A process of a program as it was seen, from outside or by the witness. */
import { basename } from 'node:path';

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
}

export const isDriver = (file: string): boolean => /^libcuda\.so(\.|$)/.test(basename(file));

/** It has the driver mapped, or memory of a GPU. */
export const usesGpu = ({ files }: Pick<SeenProcess, 'files'>): boolean =>
  files.some((file) => isDriver(file) || /^\/dev\/nvidia\d/.test(file));

/** For messages. */
export const who = ({ pid, name }: Pick<SeenProcess, 'pid' | 'name'>): string => `process ${pid} (${name})`;

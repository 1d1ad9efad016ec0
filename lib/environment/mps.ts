/** The MPS control daemon of this machine, as a client would find it. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mpsPipeDirectory } from '../native/start-remedy.js';

export interface MpsState {
  pipeDirectory: string;
  /** A daemon created its control pipe there; it may have died since. */
  controlPipe: boolean;
}

export function mpsState(environment: NodeJS.ProcessEnv): MpsState {
  const pipeDirectory = mpsPipeDirectory(environment);
  return { pipeDirectory, controlPipe: existsSync(join(pipeDirectory, 'control')) };
}

/** File with the PIDs of a daemon's servers, one per line, in the pipe directory of a daemon that a run started. */
export const SERVERS_FILE = 'servers';

/**
 * Servers of the daemon that this process's run started, which NVML lists as users of the GPU. Empty for another
 * daemon.
 */
export function ownServers({ CUDA_MPS_PIPE_DIRECTORY: pipes }: NodeJS.ProcessEnv): number[] {
  if (pipes === undefined) return [];
  const file = join(dirname(pipes), SERVERS_FILE);
  // Anybody can create a file with this name beside another daemon's pipes.
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return [];
  return readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number);
}

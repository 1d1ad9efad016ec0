/** The MPS control daemon of this machine, as a client would find it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface MpsState {
  pipeDirectory: string;
  /** A daemon has made its control pipe there; it may have died since. */
  controlPipe: boolean;
}

export function mpsState(environment: NodeJS.ProcessEnv): MpsState {
  const pipeDirectory = environment.CUDA_MPS_PIPE_DIRECTORY ?? '/tmp/nvidia-mps';
  return { pipeDirectory, controlPipe: existsSync(join(pipeDirectory, 'control')) };
}

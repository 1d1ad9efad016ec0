/**
 * NVIDIA's cuda-checkpoint program. It makes the same calls as the controller, but each from a process that starts, attaches
 * to the driver and ends, as snapshot agents and CRIU's plugin use it.
 */
import { spawn } from 'node:child_process';
import { inPath } from '../systems/input/in-path.js';
import type { CheckpointCall } from '../native/addon-types.js';

const NAME = 'cuda-checkpoint';
export const NO_UTILITY = `no ${NAME} in PATH: it is a single file of NVIDIA's repository github.com/NVIDIA/cuda-checkpoint (bin/x86_64_Linux)`;
/** Characters of what it said that are kept. */
const SAID = 300;

export type UtilityCall = Exclude<CheckpointCall, 'state' | 'restore-thread'>;

interface UtilityAnswer {
  /** Null: it succeeded. */
  failure: string | null;
  /** From its start to its end. */
  tookNs: number;
}

export class Utility {
  private constructor(
    readonly file: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** Null if PATH has none. */
  static in(environment: NodeJS.ProcessEnv): Utility | null {
    const file = inPath(NAME, environment.PATH ?? '');
    return file === null ? null : new Utility(file, environment);
  }

  /** Never rejects. What became of a call that is killed at the deadline is not known. */
  call(call: UtilityCall, pid: number, deadlineMs: number): Promise<UtilityAnswer> {
    const from = process.hrtime.bigint();
    const { environment: env } = this;
    return new Promise((resolve) => {
      const child = spawn(this.file, ['--action', call, '--pid', String(pid)], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        shell: false,
        timeout: deadlineMs,
        killSignal: 'SIGKILL',
      });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(0, SAID)));
      const end = (failure: string | null) => resolve({ failure, tookNs: Number(process.hrtime.bigint() - from) });
      child.once('error', (error) => end(`could not be started (${error.message})`));
      child.once('close', (code, signal) => {
        if (code === 0) return end(null);
        const how = signal === null ? `ended with exit code ${code}` : `was killed by ${signal}`;
        end(said.trim() === '' ? how : `${how}: ${said.trim()}`);
      });
    });
  }
}

/**
 * NVIDIA's cuda-checkpoint program. It makes the same calls as the controller, but each from a process that starts, attaches
 * to the driver and ends, as snapshot agents and CRIU's plugin use it.
 */
import { UTILITY } from '../../checkpoint/utility-name.js';
import type { CheckpointCall } from '../../native/addon-types.js';
import { loadAddon } from '../../native/load.js';
import { inPath } from '../../systems/input/in-path.js';
import { runCommand } from '../../systems/process/command.js';

export type UtilityCall = Exclude<CheckpointCall, 'state' | 'restore-thread'>;

interface UtilityAnswer {
  /** Null: it says that it succeeded. */
  failure: string | null;
  /** Start and end of the process, in ns of the addon's `now`. */
  fromNs: number;
  toNs: number;
}

type Utility = (call: UtilityCall, pid: number, timeoutMs: number) => Promise<UtilityAnswer>;

/** Null if PATH has none. What became of a call that ran out of time is not known. */
export function utilityIn(environment: NodeJS.ProcessEnv): Utility | null {
  const file = inPath(UTILITY, environment.PATH ?? '');
  if (file === null) return null;
  return async (call, pid, timeoutMs) => {
    const { now } = loadAddon();
    const argv = [file, '--action', call, '--pid', `${pid}`];
    const fromNs = now();
    const { exit, how, output } = await runCommand(argv, { environment, cwd: '/', timeoutMs });
    const toNs = now();
    const said = output.trim();
    return { failure: exit === 0 ? null : said === '' ? how : `${how}: ${said}`, fromNs, toNs };
  };
}

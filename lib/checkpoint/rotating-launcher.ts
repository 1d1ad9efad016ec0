/** Starts the processes of tenants that take turns (rotation.ts), each guarded and known to the rotation from its start. */
import type { LaunchedProcess, Launcher } from '../workers/launcher.js';
import type { Rotation } from './rotation.js';

/** Names the tenant of a process in its environment. */
export const TENANT = 'GVB_SWAP_TENANT';

/** What keeps the tenants, while there are any. */
export interface Turns {
  guarded: Launcher;
  rotation: Rotation;
}

export const rotatedBy = (turns: () => Turns): Launcher => ({
  name: 'rotating',
  start(command, options) {
    const { guarded, rotation } = turns();
    const started = guarded.start(command, options);
    if (started.pid !== null) rotation.enter(options.environment[TENANT] ?? '', started.pid);
    return rotated(started, rotation);
  },
  pathOf: (file) => file,
  clockOffsetNs: 0,
});

function rotated(started: LaunchedProcess, rotation: Rotation): LaunchedProcess {
  const { pid } = started;
  if (pid === null) return started;
  void started.ended.then(() => rotation.left(pid));
  /** No switch may begin or go on while it is ended. */
  const kill = () => rotation.leave(pid, () => started.kill());
  return {
    pid,
    stdin: started.stdin,
    stdout: started.stdout,
    stderr: started.stderr,
    ended: started.ended,
    signal: (name) => {
      if (name === 'SIGSTOP' || name === 'SIGCONT') started.signal(name);
      else void kill();
    },
    kill,
    endWithin: kill,
  };
}

/** Starts the processes of tenants that take turns (rotation.ts), each guarded and known to the rotation from its start. */
import type { LaunchedProcess, Launcher } from '../workers/launcher.js';
import { livingBelow } from '../environment/process-tree.js';
import type { CheckpointGuardian } from './checkpoint-guarding.js';
import type { Rotation, Tree } from './rotation.js';

/** Names the tenant of a process in its environment. */
export const TENANT = 'GVB_SWAP_TENANT';

/** What keeps the tenants, while there are any. */
export interface Turns {
  guarded: Launcher;
  guardian: CheckpointGuardian;
  rotation: Rotation;
  /** UUID of the card. */
  gpu: string;
}

export const rotatedBy = (turns: () => Turns): Launcher => ({
  name: 'rotating',
  start(command, options) {
    const now = turns();
    return rotated(now.guarded.start(command, options), options.environment[TENANT] ?? '', now);
  },
  pathOf: (file) => file,
  clockOffsetNs: 0,
});

function rotated(started: LaunchedProcess, tenant: string, { rotation, guardian, gpu }: Turns): LaunchedProcess {
  const { pid } = started;
  if (pid === null) return started;
  const tree: Tree = {
    tenant,
    processes: () => [pid, ...livingBelow(pid)],
    noteRestore: (pids) => guardian.guardTree(pid, gpu, pids).then(() => true),
    end: () => void guardian.end(pid).catch(() => undefined), // its end, which is waited for, says how
  };
  rotation.enter(tree);
  void started.ended.then(() => rotation.left(tree));
  /** No switch may begin or go on while it is ended. */
  const kill = () => rotation.leave(tree, () => started.kill());
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

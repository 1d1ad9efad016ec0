/** Processes on this machine: children of the coordinator, each the leader of its own process group. */
import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { Launcher, ProcessStart } from './launcher.js';
import { ProcessGroup } from './process-group.js';

export const local: Launcher = {
  name: 'local',
  start([command = '', ...args], { environment: env, cwd }) {
    const child = spawn(command, args, { env, cwd, stdio: 'pipe', detached: true, shell: false });
    // If no descriptors are left for its pipes, Node creates no streams and emits the error later.
    if ((child.stdin as Writable | undefined) === undefined) {
      child.once('error', () => {});
      throw Object.assign(new Error(`Could not start ${command}: too many files are open.`), { code: 'EMFILE' });
    }
    return new ProcessGroup(child);
  },
  pathOf: (file) => file,
  clockOffsetNs: 0,
};

export const localStart = (environment: NodeJS.ProcessEnv): ProcessStart => ({
  launcher: local,
  environment,
  argvPrefix: [],
});

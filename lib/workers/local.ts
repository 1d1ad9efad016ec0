/** Processes of this machine: children of the coordinator, each the leader of a process group of its own. */
import { spawn } from 'node:child_process';
import type { Launcher, ProcessStart } from './launcher.js';
import { ProcessGroup } from './process-group.js';

export const local: Launcher = {
  name: 'local',
  start([command = '', ...args], { environment: env, cwd }) {
    return new ProcessGroup(spawn(command, args, { env, cwd, stdio: 'pipe', detached: true, shell: false }));
  },
  pathOf: (file) => file,
  clockOffsetNs: 0,
};

export const localStart = (environment: NodeJS.ProcessEnv): ProcessStart => ({
  launcher: local,
  environment,
  argvPrefix: [],
});

/** Processes on this machine: children of the coordinator, each the leader of its own process group. */
import { spawn } from 'node:child_process';
import type { Launcher, ProcessStart } from './launcher.js';
import { ProcessGroup } from './process-group.js';
import { withStreams } from './with-streams.js';

export const local: Launcher = {
  name: 'local',
  start([command = '', ...args], { environment: env, cwd }) {
    const child = spawn(command, args, { env, cwd, stdio: 'pipe', detached: true, shell: false });
    return new ProcessGroup(withStreams(child));
  },
  pathOf: (file) => file,
  clockOffsetNs: 0,
};

export const localStart = (environment: NodeJS.ProcessEnv): ProcessStart => ({
  launcher: local,
  environment,
  argvPrefix: [],
});

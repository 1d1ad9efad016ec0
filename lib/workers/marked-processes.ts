/** Finds processes by a variable in their environment, which every process inherits from a program started with it. */
import { readdirSync, readFileSync } from 'node:fs';

/** Processes of other users cannot be read, and are not ours. */
function carries(pid: string, text: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(text);
  } catch {
    return false;
  }
}

/** `text`: NAME=VALUE. */
export const markedProcesses = (text: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && carries(name, text))
    .map(Number);

/** Repeats until none is left: a process may start another one just before it is killed. */
export function killMarked(text: string): void {
  for (let look = 0; look < 100; look++) {
    const pids = markedProcesses(text);
    if (pids.length === 0) return;
    send(pids, 'SIGKILL');
  }
}

/** Sends it once to each of them but this process, which may carry the mark too. */
export const signalMarked = (text: string, name: NodeJS.Signals): void =>
  send(
    markedProcesses(text).filter((pid) => pid !== process.pid),
    name,
  );

function send(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name);
    } catch {
      // The process has just ended.
    }
}

/** Processes that carry a variable in their environment, as every process does that a program with it starts. */
import { readdirSync, readFileSync } from 'node:fs';

/** Processes of other users cannot be looked at, and are none of ours. */
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

/** What is killed may just have started another: looked for until none is left. */
export function killMarked(text: string): void {
  for (let look = 0; look < 100; look++) {
    const pids = markedProcesses(text);
    if (pids.length === 0) return;
    for (const pid of pids)
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
  }
}

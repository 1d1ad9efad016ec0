/** Running processes with a mark in their environment, which every process inherits. */
import { readdirSync, readFileSync } from 'node:fs';

/** PIDs and command lines of the processes with that mark. */
export function processesOf(mark: string): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        if (!readFileSync(`/proc/${name}/environ`, 'utf8').includes(`GVB_TEST_MARK=${mark}`)) return [];
        return [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
      } catch {
        return [];
      }
    });
}

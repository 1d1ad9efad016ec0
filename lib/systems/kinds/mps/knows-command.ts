/** Whether a program of NVIDIA's has a command, without starting it. */
import { readFileSync } from 'node:fs';

/** Newer programs contain a command's name as text, and older ones do not. False also if the file cannot be read. */
export function knowsCommand(program: string, command: string): boolean {
  try {
    return readFileSync(program).includes(command);
  } catch {
    return false;
  }
}

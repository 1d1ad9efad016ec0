import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** The file that a program's name resolves to in a PATH, or null. */
export function inPath(program: string, path: string): string | null {
  const isExecutable = (file: string) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  const candidates = path.split(':').filter(Boolean);
  return candidates.map((folder) => join(folder, program)).find(isExecutable) ?? null;
}

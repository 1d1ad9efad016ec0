/** A stand-in for the MPS control program. */
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { emptyFolder } from './command.js';

export const control = 'nvidia-cuda-mps-control';

/** PATH with a folder of the stand-in; `fault` makes it misbehave. */
export function pathWithMps(fault?: string): string {
  const folder = emptyFolder();
  copyFileSync(fileURLToPath(new URL(`fixtures/${control}`, import.meta.url)), join(folder, control));
  chmodSync(join(folder, control), 0o755);
  if (fault) writeFileSync(join(folder, fault), '');
  return `${folder}:${process.env.PATH}`;
}

/** Stand-ins for the programs of MPS. */
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { emptyFolder } from './command.js';

export const control = 'nvidia-cuda-mps-control';

/** A folder with stand-ins of these names; `fault` makes one of them misbehave. */
function standIns(names: readonly string[], fault: string | undefined): string {
  const folder = emptyFolder();
  for (const name of names) {
    copyFileSync(fileURLToPath(new URL(`fixtures/${name}`, import.meta.url)), join(folder, name));
    chmodSync(join(folder, name), 0o755);
  }
  if (fault) writeFileSync(join(folder, fault), '');
  return folder;
}

/** PATH with a folder of the control program. */
export const pathWithMps = (fault?: string): string => `${standIns([control], fault)}:${process.env.PATH}`;

/** The same with an nvidia-smi that sets memory limits, and what reads the calls of it. */
export function pathWithLimits(fault?: string) {
  const folder = standIns([control, 'nvidia-smi'], fault);
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  return { path: `${folder}:${process.env.PATH}`, calls };
}

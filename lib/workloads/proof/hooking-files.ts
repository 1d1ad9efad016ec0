/** Whether a file that is mapped in a process could be a layer. */
import { basename } from 'node:path';
import { exportedSymbols } from '../../systems/proof/elf.js';
import { isDriver } from './seen-process.js';

/** Whether a file is part of the C library, which exports dlsym itself and is no layer. */
const isLibc = (file: string): boolean => /^(libc|libdl|ld-linux)[-.\w]*\.so/.test(basename(file));

/** Whether a file hooks the driver, for all runs: libraries do not change while they are measured. */
const known = new Map<string, Promise<boolean>>();
const MOST_KNOWN = 20_000;

export async function hooks(file: string): Promise<boolean> {
  if (isDriver(file) || isLibc(file) || file.startsWith('/dev/')) return false;
  if (known.size > MOST_KNOWN) known.clear();
  const asked =
    known.get(file) ??
    exportedSymbols(file).then((names) => names !== null && (names.has('cuInit') || names.has('dlsym')));
  known.set(file, asked);
  return asked;
}

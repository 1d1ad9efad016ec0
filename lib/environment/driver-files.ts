/** What the NVIDIA kernel module says of itself and its GPUs in /proc: no library is needed, and no layer shows. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface DriverFiles {
  /** E.g. 580.159.04; null where there is no module. */
  version: string | null;
  /** Models of all GPUs of the machine. */
  gpus: string[];
}

export function readDriverFiles(folder = '/proc/driver/nvidia'): DriverFiles {
  const version = /^NVRM version:.*?\s(\d+\.\d+(?:\.\d+)?)\s/m.exec(textOf(join(folder, 'version')))?.[1] ?? null;
  const gpus = entriesOf(join(folder, 'gpus')).flatMap((gpu) => {
    const model = /^Model:\s*(.+)$/m.exec(textOf(join(folder, 'gpus', gpu, 'information')))?.[1];
    return model === undefined ? [] : [model.trim()];
  });
  return { version, gpus };
}

/** Without the module, or where a container hides it, nothing is known. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

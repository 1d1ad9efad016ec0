/**
 * The NVIDIA kernel module's description of itself and its GPUs in /proc, which needs no library and which no layer
 * changes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface DriverFiles {
  /** E.g. 580.159.04; null if there is no module. */
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

/** Empty if there is no module, or a container hides it. */
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

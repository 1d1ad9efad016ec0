/** With too few file descriptors, Node reports existing modules as missing; this finds the real cause. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** `ulimit -n`, read without a descriptor. */
function limit(): string {
  const report = process.report?.getReport() as { userLimits?: { open_files?: { soft?: unknown } } } | undefined;
  return String(report?.userLimits?.open_files?.soft ?? 'unknown');
}

/**
 * Checks without opening a file; for a package that could not be opened, Node reports an entry that the package does
 * not have.
 */
function isThere(message: string): boolean {
  const [, missing = '', importer = ''] =
    /^Cannot find (?:package|module) '([^']+)' imported from (.+)$/.exec(message) ?? [];
  const inFolder = (folder: string) => existsSync(join(folder, 'package.json'));
  if (missing.startsWith('/')) return existsSync(missing) || inFolder(dirname(missing));
  for (let folder = dirname(importer); folder !== dirname(folder); folder = dirname(folder))
    if (inFolder(join(folder, 'node_modules', missing))) return true;
  return false;
}

/** The message about the limit, or null for any other error. */
export function descriptorShortage(error: unknown): string | null {
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string };
  if (code !== 'EMFILE' && !(code === 'ERR_MODULE_NOT_FOUND' && isThere(message))) return null;
  return `The limit of open files is too low (ulimit -n is ${limit()}): raise it, e.g. with ulimit -n 1024.`;
}

/** What a CDI specification adds to a container (containerEdits), and applying it to the configuration of an OCI bundle. */
import { statSync } from 'node:fs';

export interface OciEdits {
  env?: string[];
  deviceNodes?: { path: string; hostPath?: string; permissions?: string }[];
  mounts?: { hostPath: string; containerPath: string; options?: string[] }[];
  hooks?: { hookName: string; path: string; args?: string[]; env?: string[] }[];
}

export interface OciDevice {
  path: string;
  type: 'b' | 'c';
  major: number;
  minor: number;
}

/** makedev(3) of Linux. */
export function deviceNumbers(rdev: bigint): { major: number; minor: number } {
  const major = ((rdev >> 8n) & 0xfffn) | ((rdev >> 32n) & ~0xfffn);
  const minor = (rdev & 0xffn) | ((rdev >> 12n) & ~0xffn & 0xffffffffn);
  return { major: Number(major), minor: Number(minor) };
}

/** Throws where the file is no device node. */
export function deviceOf(path: string, hostPath = path): OciDevice {
  const status = statSync(hostPath, { bigint: true });
  if (!status.isCharacterDevice() && !status.isBlockDevice()) throw new Error(`${hostPath} is not a device node`);
  return { path, type: status.isBlockDevice() ? 'b' : 'c', ...deviceNumbers(status.rdev) };
}

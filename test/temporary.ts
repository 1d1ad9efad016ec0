/** Names of things that tests create outside their folder; test/cleaning.ts removes them after every file. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const paths: string[] = [];

export function temporaryFolder(name = 'test'): string {
  const folder = mkdtempSync(join(tmpdir(), `gvb-${name}-`));
  paths.push(folder);
  return folder;
}

/** The name of a simulated card; its last process removes it from shared memory, unless it was killed. */
export function ownRegion(name: string): string {
  const region = `${name}-${randomUUID().slice(0, 13)}`;
  paths.push(`/dev/shm/gvb-sim-${process.getuid?.()}-${region}`);
  return region;
}

export function removeTemporary(): void {
  for (const path of paths.splice(0)) rmSync(path, { recursive: true, force: true });
}

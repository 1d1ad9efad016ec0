/** Temporary file systems for tests, unmounted after the file. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Mounted at an empty folder, or null without permission. Call it at the top of a test file. */
export function fileSystem(options: string): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'gvb-fs-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  afterAll(() => {
    if (status === 0) spawnSync('umount', [folder]);
    rmSync(folder, { recursive: true });
  });
  return status === 0 ? folder : null;
}

/** A folder in which files can be made, and nothing can be written into them. Null without permission. */
export function fullFolder(): string | null {
  const folder = fileSystem('size=4k');
  if (folder !== null) writeFileSync(join(folder, 'filler'), Buffer.alloc(4096));
  return folder;
}

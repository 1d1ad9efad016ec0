// Packs the package, for checks of what users install.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** A new folder, which is removed when the process ends. */
export function temporaryFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), name));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Ends the process, and removes its folders. */
export function fail(message) {
  console.error(message);
  process.exit(1);
}

/** What the program writes to stdout; its failure ends the process. */
export function run(command, args, cwd, env = process.env) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (status === 0) return stdout;
  fail(`${command} ${args.join(' ')} failed:\n${error?.message ?? stdout + stderr}`);
}

/** Packs into `folder`; `tarball` is the path of the file. The paths of `files` are relative to the package. */
export function pack(folder) {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root));
  return { ...packed, tarball: join(folder, packed.filename) };
}

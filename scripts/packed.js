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

/**
 * Packs into `folder`; `tarball` is the path of the file. The paths of `files` are relative to the package. Fails if the
 * package is larger than users are willing to download.
 */
export function pack(folder) {
  run(process.execPath, ['scripts/sbom.js'], root);
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root));
  return { ...packed, tarball: join(folder, packed.filename), platforms: checkSize(packed) };
}

/** Megabytes, with the prebuilds of all architectures. */
const LARGEST = 4;

/** Returns the platforms of which it has prebuilds. */
function checkSize({ size, files }) {
  const platforms = [...new Set(files.flatMap(({ path }) => /^prebuilds\/([^/]+)\//.exec(path)?.[1] ?? []))];
  if (platforms.length === 0) fail('Expected prebuilds in the package: run npm run prebuild first.');
  if (size > LARGEST * 1e6)
    fail(
      `Expected a package with ${platforms.join(' and ')} of at most ${LARGEST} MB but packed ${(size / 1e6).toFixed(2)} MB. ` +
        'npm pack --dry-run --json lists the files with their sizes.',
    );
  return platforms;
}

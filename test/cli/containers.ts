/** Whether this machine can make containers, and a root file system for them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { addonFile, emptyFolder, root, simulatedFolder } from './command.js';

const succeeds = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

/** Whether this machine cannot unshare namespaces; if so, prints what is not tested. */
export function cannotUnshare(what: string): boolean {
  const can = succeeds('unshare', '--mount', 'true');
  if (!can) console.warn(`Skipped, because this user may make no namespaces: ${what}.`);
  return !can;
}

export function withoutPodman(what: string): boolean {
  const missing = ['podman', 'runc', 'busybox'].filter((program) => !succeeds(program, '--help'));
  const why =
    missing.length > 0
      ? `${missing.join(', ')} is not installed (Debian: podman runc busybox-static)`
      : process.getuid?.() === 0
        ? null
        : 'it needs root';
  if (why !== null) console.warn(`Skipped, because ${why}: ${what}.`);
  return why !== null;
}

/** Whether CRIU here cannot checkpoint containers; if so, prints what is not tested. */
export function withoutCriu(what: string): boolean {
  const { stdout = '' } = spawnSync('criu', ['--version'], { encoding: 'utf8' });
  const cannot = !/^Version: ([4-9]|\d\d)/m.test(stdout);
  if (cannot) console.warn(`Skipped, because CRIU 4 or later is not in PATH: ${what}.`);
  return cannot;
}

/** The libraries that Node, the addon and the simulated driver load. */
function librariesOf(files: readonly string[]): string[] {
  const text = execFileSync('ldd', [...files], { encoding: 'utf8' });
  const paths = [...text.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
  return [...new Set(paths)].filter((path) => !path.startsWith(simulatedFolder));
}

/** A root file system of busybox and the C library of this machine. */
export function makeRoot(rootfs: string): void {
  for (const folder of ['bin', 'dev', 'etc', 'fleet', 'proc', 'sys', 'tmp', 'usr/bin'])
    mkdirSync(join(rootfs, folder), { recursive: true });
  cpSync(realpathSync('/usr/bin/busybox'), join(rootfs, 'bin/busybox'));
  for (const name of ['true', 'env', 'ln', 'sh', 'sleep']) symlinkSync('busybox', join(rootfs, 'bin', name));
  symlinkSync('/bin/busybox', join(rootfs, 'usr/bin/env'));
  const drivers = ['libcuda.so.1', 'libnvidia-ml.so.1'].map((name) => join(simulatedFolder, name));
  for (const library of librariesOf([process.execPath, addonFile, ...drivers])) {
    mkdirSync(join(rootfs, dirname(library)), { recursive: true });
    cpSync(realpathSync(library), join(rootfs, library));
  }
}

/** A runtime that is a script of ours (fixtures/fake-podman.sh), in a folder of its own. */
export function fakeRuntime() {
  const folder = emptyFolder();
  const program = join(folder, 'podman');
  copyFileSync(join(root, 'test/cli/fixtures/fake-podman.sh'), program);
  copyFileSync(join(root, 'test/cli/fixtures/podman-stay.sh'), join(folder, 'podman-stay.sh'));
  const state = join(folder, 'state');
  mkdirSync(join(state, 'containers'), { recursive: true });
  return {
    folder,
    program,
    state,
    calls: () =>
      readFileSync(join(state, 'calls'), 'utf8')
        .split('\n\n')
        .map((call) => call.split('\n')),
    containers: () => readdirSync(join(state, 'containers')),
  };
}

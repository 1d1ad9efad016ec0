/** Whether this machine can make containers. */
import { spawnSync } from 'node:child_process';

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

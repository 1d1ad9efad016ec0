/**
 * An MPS control daemon whose identity is in a file beside its pipes: if the run and the daemon's guardian are killed
 * together, the next start finds it there and ends it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityOf, ownerState, parseIdentity } from '../../../environment/process-identity.js';

const DAEMON_FILE = 'daemon.json';

/** Where a guardian records the daemon of this directory. */
export const daemonFile = (directory: string): string => join(directory, DAEMON_FILE);

export function recordDaemon(file: string, pid: number): void {
  const identity = identityOf(pid);
  if (identity !== null) writeFileSync(file, JSON.stringify(identity), { mode: 0o600 });
}

/** Ends its server first: without its daemon, nothing else would. */
export function killDaemon(pid: number): void {
  for (const child of childrenOf(pid)) kill(child);
  kill(pid);
}

/** Ends the daemons of the systems of an abandoned run directory. */
export function endRecordedDaemons(runDirectory: string): void {
  // A layer inside another has a folder in that of the outer one.
  for (const name of readdirSync(runDirectory, { recursive: true, encoding: 'utf8' })) {
    const pid = runningDaemon(daemonFile(join(runDirectory, name)));
    if (pid !== null) killDaemon(pid);
  }
}

/** Null if there is none: PIDs are reused, so another process may have the number. */
function runningDaemon(file: string): number | null {
  try {
    const found = parseIdentity(readFileSync(file, 'utf8'));
    return found !== null && ownerState(found) === 'alive' ? found.pid : null;
  } catch {
    // Most systems have no daemon.
    return null;
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    // The process has ended by itself.
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended by itself.
  }
}

/**
 * Identifies the owner of something that stays on disk if its owner is killed. PIDs are reused, so the start time, the
 * boot and the PID namespace are needed to identify a process.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessIdentity {
  pid: number;
  /** Clock ticks from boot to the start of the process (proc_pid_stat(5), field 22). */
  startTime: string;
  bootId: string;
  /** PID namespace from /proc/self/ns/pid: containers of one machine use the same PIDs for different processes. */
  pidNamespace: string;
  host: string;
}

const TEXTS = ['startTime', 'bootId', 'pidNamespace', 'host'] as const;

/** Null if the text is no JSON of an identity. Guardians use it, and load no library for it. */
export function parseIdentity(text: string): ProcessIdentity | null {
  try {
    const found = JSON.parse(text) as Partial<Record<keyof ProcessIdentity, unknown>> | null;
    const { pid = null } = found ?? {};
    const fits =
      Number.isSafeInteger(pid) && (pid as number) > 0 && TEXTS.every((name) => typeof found?.[name] === 'string');
    return fits ? (found as ProcessIdentity) : null;
  } catch {
    return null;
  }
}

/** `unknown`: this process cannot see whether it still runs. */
type OwnerState = 'alive' | 'dead' | 'unknown';

const HIDDEN = 'hidden';

const readText = (path: string): string => readFileSync(path, 'utf8').trim();

/**
 * Whether a process exists. With hidepid /proc shows no processes of other users (proc(5)); a signal still finds them.
 */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/**
 * Null if the process has ended, `hidden` if it runs but cannot be inspected. The name of a process may contain spaces
 * and parentheses, so fields are counted from the last parenthesis.
 */
function startTimeOf(pid: number): string | null {
  let stat: string;
  try {
    stat = readText(`/proc/${pid}/stat`);
  } catch {
    return exists(pid) ? HIDDEN : null;
  }
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended: it only waits for its parent.
  return state === 'Z' || state === 'X' ? null : (fields[18] as string);
}

const here = () => ({
  bootId: readText('/proc/sys/kernel/random/boot_id'),
  pidNamespace: readlinkSync('/proc/self/ns/pid'),
  host: readText('/proc/sys/kernel/hostname'),
});

/** Null if it has ended. */
export function identityOf(pid: number): ProcessIdentity | null {
  const startTime = startTimeOf(pid);
  return startTime === null ? null : { pid, startTime, ...here() };
}

export const ownIdentity = (): ProcessIdentity => identityOf(process.pid) as ProcessIdentity;

/**
 * The owner in a file's name: PID, start time, and a short hash of where these are valid. Only the PID without /proc, as
 * on macOS, where nothing tells one process from a later one.
 */
export function ownMark(): string {
  if (!existsSync('/proc/self/stat')) return String(process.pid);
  const { pid, startTime } = ownIdentity();
  return [pid, startTime, placeHash()].join('-');
}

/** Whether the process of a mark was one of this boot and PID namespace, and has ended. */
export function isOfEnded(mark: string): boolean {
  const [pid = '', startTime, place] = mark.split('-');
  if (place !== placeHash()) return false;
  const found = startTimeOf(Number(pid));
  return found !== HIDDEN && found !== startTime;
}

function placeHash(): string {
  const { bootId, pidNamespace, host } = here();
  return createHash('sha256').update([bootId, pidNamespace, host].join('\0')).digest('hex').slice(0, 12);
}

export function ownerState({ pid, startTime, bootId, pidNamespace, host }: ProcessIdentity): OwnerState {
  const now = here();
  // This host has rebooted since; another host may share the disk.
  if (bootId !== now.bootId) return host === now.host ? 'dead' : 'unknown';
  if (pidNamespace !== now.pidNamespace) return 'unknown';
  const found = startTimeOf(pid);
  if (found === HIDDEN) return 'unknown';
  return found === startTime ? 'alive' : 'dead';
}

/**
 * How a container ends that was restored from a checkpoint, or may have been. Ending a live process with restored GPU state has
 * hung whole hosts (cuda-checkpoint issue 53), so the container is checkpointed again, which ends it, and then removed
 * without force: podman refuses that while it runs.
 */
import { gone } from '../../../workers/container/container.js';

/** What a command of podman came to. */
export interface Said {
  ok: boolean;
  stdout: string;
  stderr: string;
}

/** What is needed to end a container; a test has its own. */
interface ContainerMeans {
  podman: (argv: readonly string[]) => Said;
  /** PIDs of its living processes, as this machine sees them. */
  living: (name: string) => readonly number[];
  wait: (ms: number) => void;
}

/** Servers may have connections, and libraries locks on files. */
const STATE = ['--tcp-established', '--file-locks'];

export const checkpointOf = (name: string): string[] => ['container', 'checkpoint', ...STATE, name];
export const restoreOf = (name: string): string[] => ['container', 'restore', ...STATE, name];

/** A restore that was asked for before may only begin in between. */
const ATTEMPTS = 3;
/** Processes with much memory are still ending when podman has noted their end. */
const ENDING_MS = 10_000;
const LOOK_MS = 50;

/** Null once it is removed; else why it was left. */
export function endContainer(name: string, { podman, living, wait }: ContainerMeans): string | null {
  let last = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const looked = podman(['container', 'inspect', '--format={{.State.Running}}', name]);
    if (!looked.ok && gone.test(looked.stderr) && living(name).length === 0) return null;
    let isOut = looked.stdout.trim() === 'false';
    if (!isOut) {
      const { ok, stderr } = podman(checkpointOf(name));
      if (!ok) last = `its checkpoint failed: ${lastLine(stderr)}`;
      isOut = ok;
    }
    for (let ms = 0; isOut && ms < ENDING_MS && living(name).length > 0; ms += LOOK_MS) wait(LOOK_MS);
    // What podman takes for ended it would kill when it removes it.
    const [pid] = living(name);
    if (pid !== undefined) {
      last ||= `its process ${pid} lives`;
      continue;
    }
    const { ok, stderr } = podman(['rm', name]);
    if (ok || gone.test(stderr)) return null;
    last = `podman rm: ${lastLine(stderr)}`;
  }
  return `container ${name} was left as it is, because a live restored process is never killed: ${last}`;
}

export const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';

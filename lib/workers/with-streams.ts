/** A process that was just started, with its streams. */
import type { ChildProcess } from 'node:child_process';

/**
 * Throws if no descriptors were left for its pipes: Node then makes no streams, and emits an error later, which would end
 * this process where nobody listens.
 */
export function withStreams<Child extends ChildProcess>(child: Child): Child {
  if ((child.stdio as unknown) !== undefined) return child;
  child.once('error', () => {});
  throw Object.assign(new Error(`Could not start ${child.spawnfile}: too many files are open.`), { code: 'EMFILE' });
}

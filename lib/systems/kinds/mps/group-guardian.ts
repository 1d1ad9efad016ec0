/**
 * A process that removes the cgroups of a run's tenants when its own stdin closes, which happens however the run ends.
 * Arguments: the folder that contains them, and what precedes a tenant's ID in their names.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeGroup } from './remove-group.js';

/** A cgroup remains while it has processes, which a run that was killed leaves to end by themselves. */
const PATIENCE_MS = 30_000;
const POLL_MS = 50;

/** The tenant's ID and limits, which no system's name that begins like this one's looks like. */
const REST = /^\d+(\.\d+)*$/;

const [root = '', prefix = ''] = process.argv.slice(2);

function groups(): string[] {
  try {
    return readdirSync(root).filter((name) => name.startsWith(prefix) && REST.test(name.slice(prefix.length)));
  } catch {
    // The folder is gone, and so are they.
    return [];
  }
}

async function removeAll(): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  let left: string[];
  while ((left = groups().flatMap((name) => removeGroup(join(root, name)))).length > 0 && performance.now() < until)
    await sleep(POLL_MS);
  if (left.length > 0) process.stderr.write(`${left.join('; ')}\n`);
  process.exit(left.length > 0 ? 4 : 0);
}

// Ctrl-C is the run's to handle.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
process.stdin.resume();
process.stdin.once('close', () => void removeAll());

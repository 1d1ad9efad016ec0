/**
 * A process that removes the cgroups of a run's tenants when its own stdin closes, which happens however the run ends.
 * Arguments: the folder that contains them, what precedes a tenant's ID in their names, and what set limits that have to be
 * cleared: nvidia-smi, and the UUID of the GPU.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeGroup } from './remove-group.js';

/** A cgroup remains while it has processes, which a run that was killed leaves to end by themselves. */
const PATIENCE_MS = 30_000;
const POLL_MS = 50;

/** The tenant's ID and its limits, hard and soft, which no system's name that begins like this one's looks like. */
const REST = /^\d+(\.\d+(?<soft>\.\d+)?)?$/;

const [root = '', prefix = '', smi, gpu = ''] = process.argv.slice(2);

function groups(): string[] {
  try {
    return readdirSync(root).filter((name) => name.startsWith(prefix) && REST.test(name.slice(prefix.length)));
  } catch {
    // The folder is gone, and so are they.
    return [];
  }
}

/** Takes soft limits back. Returns what was left. */
async function clearLimits(program: string): Promise<string[]> {
  const { driverLimits } = await import('./memory-limits.js');
  const { clear } = driverLimits(program, process.env.PATH ?? '', gpu);
  const left: string[] = [];
  for (const name of groups()) {
    const hasSoft = REST.exec(name.slice(prefix.length))?.groups?.soft !== undefined;
    const failure = hasSoft ? await clear(join(root, name)) : null;
    if (failure !== null) left.push(failure);
  }
  return left;
}

async function removeAll(): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  const limits = smi === undefined ? [] : await clearLimits(smi);
  let left: string[];
  while ((left = groups().flatMap((name) => removeGroup(join(root, name)))).length > 0 && performance.now() < until)
    await sleep(POLL_MS);
  left.push(...limits);
  if (left.length > 0) process.stderr.write(`${left.join('; ')}\n`);
  process.exit(left.length > 0 ? 4 : 0);
}

// Ctrl-C is the run's to handle.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
process.stdin.resume();
process.stdin.once('close', () => void removeAll());

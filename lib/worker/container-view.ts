/** What a worker in a container says of the files that were preloaded into it there. */
import type { ContainerView, PreloadEntry } from '../workers/description.js';

/** Null outside of a container that this program started. */
export async function containerView(
  preload: readonly PreloadEntry[],
  environment = process.env,
): Promise<ContainerView | null> {
  const { CONTAINER_VARIABLE } = await import('../workers/container/container-variable.js');
  const name = environment[CONTAINER_VARIABLE];
  if (name === undefined) return null;
  const { sha256 } = await import('../systems/proof/file-hash.js');
  const entries = preload.filter(({ source, mapped }) => source === 'LD_PRELOAD' && mapped !== null);
  const files = entries.map(async ({ entry }) => ({ path: entry, sha256: await sha256(entry) }));
  return { name, files: await Promise.all(files) };
}

/** What a worker in a container or pod says of the files that were preloaded into it there. */
import type { ContainerView, PreloadEntry } from '../workers/description.js';

/** Null outside of containers that this program started. */
export async function containerView(
  preload: readonly PreloadEntry[],
  environment = process.env,
): Promise<ContainerView | null> {
  const { CONTAINER_VARIABLE } = await import('../workers/container/container-variable.js');
  const { POD_VARIABLE } = await import('../workers/pod/pod-variables.js');
  const name = environment[CONTAINER_VARIABLE] ?? environment[POD_VARIABLE];
  if (name === undefined) return null;
  const { sha256 } = await import('../systems/proof/file-hash.js');
  const paths = preload.flatMap(({ entry, mapped }) => (mapped === null ? [] : [entry, mapped]));
  const files = [...new Set(paths)].map(async (path) => ({ path, sha256: await sha256(path) }));
  return { name, files: await Promise.all(files) };
}

/** Whether a process is still there after a while: a call also fails where it is just ending. */
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a process may take to end that was ending in a call. */
const END_MS = 1_500;
const BETWEEN_MS = 20;

export async function stays(isThere: () => boolean): Promise<boolean> {
  for (let waited = 0; waited < END_MS; waited += BETWEEN_MS, await sleep(BETWEEN_MS)) if (!isThere()) return false;
  return true;
}

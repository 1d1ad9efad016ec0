import { setTimeout as sleep } from 'node:timers/promises';

/** Whether something ends within that time; leaves no timer behind. */
export async function endsWithin(ended: Promise<unknown>, ms: number): Promise<boolean> {
  const stop = new AbortController();
  const late = sleep(ms, false, { signal: stop.signal }).catch(() => false);
  const inTime = await Promise.race([ended.then(() => true), late]);
  stop.abort();
  return inTime;
}

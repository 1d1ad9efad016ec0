/** How busy the host's processors are. */
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const WINDOW_MS = 250;

function ticks(): { busy: number; all: number } {
  const sum = { busy: 0, all: 0 };
  for (const { times } of cpus()) {
    const { idle, ...working } = times;
    const busy = Object.values(working).reduce((total, time) => total + time, 0);
    sum.busy += busy;
    sum.all += busy + idle;
  }
  return sum;
}

/** The used fraction of all processors' time over the next quarter of a second, from 0 to 1; null if unknown. */
export async function hostCpuBusy(signal?: AbortSignal): Promise<number | null> {
  const from = ticks();
  await sleep(WINDOW_MS, undefined, { ...(signal && { signal }) }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
  const to = ticks();
  return to.all > from.all ? (to.busy - from.busy) / (to.all - from.all) : null;
}

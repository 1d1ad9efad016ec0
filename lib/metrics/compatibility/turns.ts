import { setTimeout as sleep } from 'node:timers/promises';
import { allOrFirstError } from '../tenants/scene.js';

interface Turn {
  /** Must not run at the same time as any other. */
  alone: boolean;
}

interface Turns {
  /** How many may run at a time. */
  lanes: number;
  /** If set, only one may be starting at a time: it counts as started after this time, or when it ends. */
  startMs: number | null;
}

/** Runs several at a time, then those that must run alone, one by one. Resolves in the order of `all`. */
export async function inTurns<T extends Turn, R>(
  all: readonly T[],
  { lanes, startMs }: Turns,
  run: (one: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = [...all.entries()].filter(([, { alone }]) => !alone);
  let started: Promise<unknown> = Promise.resolve();
  const start = async (index: number, one: T) => {
    const running = run(one, index);
    if (startMs !== null)
      started = Promise.race([running.catch(() => undefined), sleep(startMs, null, { ref: false })]);
    results[index] = await running;
  };
  const lane = async () => {
    for (;;) {
      // Another lane may have started a process meanwhile.
      for (let seen: unknown = null; seen !== started; await seen) seen = started;
      const next = waiting.shift();
      if (!next) return;
      await start(...next);
    }
  };
  await allOrFirstError(Array.from({ length: lanes }, lane));
  for (const [index, one] of [...all.entries()].filter(([, { alone }]) => alone))
    results[index] = await run(one, index);
  return results;
}

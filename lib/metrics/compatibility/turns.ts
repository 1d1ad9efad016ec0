import { setTimeout as sleep } from 'node:timers/promises';
import { allOrFirstError } from '../scene.js';

interface Turn {
  /** No other may run at the same time. */
  alone: boolean;
}

export interface Turns {
  /** How many at a time. */
  lanes: number;
  /** Where none may start while another is starting: it is taken to have started after so long, or when it ends. */
  startMs: number | null;
}

/** Several at a time, those that must be alone one by one behind them. Answers in the order of `all`. */
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
      // Others may have been waiting for the same one.
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

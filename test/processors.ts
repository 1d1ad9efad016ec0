import { availableParallelism } from 'node:os';

/** Whether this machine has a single processor; if so, prints what is not tested. */
export function onOneProcessor(what: string): boolean {
  const isOne = availableParallelism() < 2;
  if (isOne) console.warn(`Skipped on one processor: ${what}.`);
  return isOne;
}

// Processes that benchmarks start: the answer of one to a request, and those that carry a mark in their environment.
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { clearTimeout, setTimeout } from 'node:timers';

/**
 * The next message of a forked process, as `{ answer }`; if it ends before, `{ end: { code, signal }, timedOut }`. It is
 * killed after `limitMs`.
 */
export async function answerOf(child, request, limitMs) {
  const over = new AbortController();
  let timedOut = false;
  const limit = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, limitMs);
  child.send(request);
  try {
    return await Promise.race([
      once(child, 'message', over).then(([answer]) => ({ answer })),
      once(child, 'exit', over).then(([code, signal]) => ({ end: { code, signal }, timedOut })),
    ]);
  } finally {
    clearTimeout(limit);
    over.abort();
  }
}

/** `mark`: NAME=VALUE, with a value that no other has. */
export const markedProcesses = (mark) =>
  readdirSync('/proc').flatMap((name) => {
    try {
      if (!/^\d+$/.test(name) || !readFileSync(`/proc/${name}/environ`, 'utf8').includes(mark)) return [];
      return [{ pid: Number(name), line: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
    } catch {
      return []; // It has just ended.
    }
  });

/**
 * Matches users' patterns in a separate thread with a time limit: some take forever (`^(0+)+$x`) and would block their
 * thread, including the handling of Ctrl-C.
 */
import { Worker } from 'node:worker_threads';

const LIMIT_MS = 5_000;

/** The program is source text, so that it needs no separate compiled file. It contains nothing that a user wrote. */
const program = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { source, flags, text, most } = workerData;
  const pattern = new RegExp(source, flags);
  const groups = () => {
    const found = [];
    for (const match of text.matchAll(pattern)) {
      if (found.length === most) return null;
      if (match[1] !== undefined) found.push(match[1]);
    }
    return found;
  };
  parentPort.postMessage({ found: most === undefined ? pattern.test(text) : groups() });
`;

/** Results by pattern and text, because the same few paths are matched for every process of a system. */
const known = new Map<string, boolean>();
const MOST_KNOWN = 1_000;
const LONGEST_KNOWN = 4_096;

/** Patterns that timed out: trying them again would cost the time limit for each process of a system. */
const tooSlow = new Set<string>();

interface MatchOptions {
  /** The promise rejects with its reason. */
  signal?: AbortSignal | undefined;
  /** Default 5 s. */
  limitMs?: number;
}

/** Null if the pattern timed out, for this text or an earlier one. */
export async function matches({ source, flags }: RegExp, text: string, options: MatchOptions = {}) {
  const { signal, limitMs = LIMIT_MS } = options;
  signal?.throwIfAborted();
  const pattern = JSON.stringify([source, flags]);
  const key = JSON.stringify([source, flags, text]);
  const earlier = tooSlow.has(pattern) ? null : known.get(key);
  if (earlier !== undefined) return earlier;
  const answer = await matchInThread<boolean>({ source, flags, text }, limitMs, signal);
  const found = answer === null ? null : answer.found;
  if (found === null) tooSlow.add(pattern);
  if (known.size >= MOST_KNOWN) known.clear();
  if (found !== null && text.length <= LONGEST_KNOWN) known.set(key, found);
  return found;
}

/** Bounds the memory: every one is a text of its own. */
const MOST_GROUPS = 1_000_000;

/** The first group of every match; `pattern` has the flag g. Or why there are none: a part of them stands for nothing. */
export async function firstGroups(
  expression: RegExp,
  text: string,
  { signal, limitMs = LIMIT_MS }: MatchOptions = {},
): Promise<{ groups: string[] } | { missing: string }> {
  const { source, flags } = expression;
  signal?.throwIfAborted();
  const pattern = JSON.stringify([source, flags]);
  if (tooSlow.has(pattern)) return { missing: tookTooLong(expression) };
  const data = { source, flags, text, most: MOST_GROUPS };
  const answer = await matchInThread<string[] | null>(data, limitMs, signal);
  if (answer === null) {
    tooSlow.add(pattern);
    return { missing: tookTooLong(expression) };
  }
  if (answer.found !== null) return { groups: answer.found };
  return { missing: `${source} matched more than ${MOST_GROUPS} times: let the program print fewer lines, or the sum` };
}

async function matchInThread<T>(
  data: { source: string; flags: string; text: string; most?: number },
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<{ found: T } | null> {
  const thread = new Worker(program, { eval: true, workerData: data, env: {}, execArgv: [] });
  let timer: NodeJS.Timeout | undefined;
  let stop = () => {};
  try {
    return await new Promise<{ found: T } | null>((resolve, reject) => {
      // Counts from the thread's start, which takes time on a busy machine that the pattern must not be charged for.
      thread.once('online', () => {
        timer = setTimeout(() => resolve(null), limitMs);
      });
      thread.once('message', resolve);
      thread.once('error', reject);
      stop = () => reject(signal?.reason as Error);
      signal?.addEventListener('abort', stop, { once: true });
    });
  } finally {
    signal?.removeEventListener('abort', stop);
    clearTimeout(timer);
    await thread.terminate();
  }
}

/** Detail of a finding whose `matches` returned null. */
export const tookTooLong = ({ source }: RegExp): string =>
  `matching ${source} took more than ${LIMIT_MS / 1_000} s and was stopped: nested repetition, e.g. (0+)+, takes exponential time`;

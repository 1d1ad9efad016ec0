/**
 * Patterns of users are matched in a thread of their own, with a time limit: some take for ever (`^(0+)+$x`), and nothing
 * else could run meanwhile in the thread that matches, not even what Ctrl-C asks for.
 */
import { Worker } from 'node:worker_threads';

const LIMIT_MS = 5_000;

/** As source, so that it needs no compiled file beside this one. It holds nothing that a user wrote. */
const program = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { source, flags, text, most } = workerData;
  const pattern = new RegExp(source, flags);
  const groups = () => {
    const found = [];
    for (const match of text.matchAll(pattern)) {
      if (found.length === most) break;
      if (match[1] !== undefined) found.push(match[1]);
    }
    return found;
  };
  parentPort.postMessage(most === undefined ? pattern.test(text) : groups());
`;

/** The same few paths are matched for every process of a system. */
const known = new Map<string, boolean>();
const MOST_KNOWN = 1_000;
const LONGEST_KNOWN = 4_096;

/** Patterns that took too long once: they are not tried again, or each process of a system would cost the limit. */
const tooSlow = new Set<string>();

export interface MatchOptions {
  /** Its reason rejects. */
  signal?: AbortSignal | undefined;
  /** Default 5 s. */
  limitMs?: number;
}

/** Null where the pattern took longer than the limit, for this text or an earlier one. */
export async function matches({ source, flags }: RegExp, text: string, options: MatchOptions = {}) {
  const { signal, limitMs = LIMIT_MS } = options;
  signal?.throwIfAborted();
  const pattern = JSON.stringify([source, flags]);
  const key = JSON.stringify([source, flags, text]);
  const earlier = tooSlow.has(pattern) ? null : known.get(key);
  if (earlier !== undefined) return earlier;
  const found = await matchInThread<boolean>({ source, flags, text }, limitMs, signal);
  if (found === null) tooSlow.add(pattern);
  if (known.size >= MOST_KNOWN) known.clear();
  if (found !== null && text.length <= LONGEST_KNOWN) known.set(key, found);
  return found;
}

/** As many as say something of one run. */
const MOST_GROUPS = 100_000;

/**
 * The first group of every match, of at most 100 000; `pattern` has the flag g. Null where that took longer than the
 * limit, for this text or an earlier one.
 */
export async function firstGroups({ source, flags }: RegExp, text: string, options: MatchOptions = {}) {
  const { signal, limitMs = LIMIT_MS } = options;
  signal?.throwIfAborted();
  const pattern = JSON.stringify([source, flags]);
  if (tooSlow.has(pattern)) return null;
  const found = await matchInThread<string[]>({ source, flags, text, most: MOST_GROUPS }, limitMs, signal);
  if (found === null) tooSlow.add(pattern);
  return found;
}

async function matchInThread<T>(
  data: { source: string; flags: string; text: string; most?: number },
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<T | null> {
  const thread = new Worker(program, { eval: true, workerData: data, env: {}, execArgv: [] });
  let timer: NodeJS.Timeout | undefined;
  let stop = () => {};
  try {
    return await new Promise<T | null>((resolve, reject) => {
      // From when it runs: starting a thread takes time on a busy machine, and is not the pattern's.
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

/** For a finding, where the answer of `matches` is null. */
export const tookTooLong = ({ source }: RegExp): string =>
  `matching ${source} took more than ${LIMIT_MS / 1_000} s and was stopped: nested repetition, e.g. (0+)+, takes exponential time`;

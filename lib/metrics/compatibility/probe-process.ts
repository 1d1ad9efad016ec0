/** Runs one probe process with a deadline and collects what it reports of each step. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import type { Ending, ProcessStart } from '../../workers/launcher.js';
import { LineSplitter } from '../../workers/lines.js';

const step = v.string();
const lineSchema = v.variant('gvb', [
  v.object({
    gvb: v.literal('probe'),
    name: v.string(),
    issue: v.string(),
    alone: v.boolean(),
    /** What it is for: COMPAT-001, ERR-003; of neither: ERR-002. */
    compatibility: v.boolean(),
    errors: v.boolean(),
    /** It says nothing of a layer that keeps no file for a tenant. */
    needsState: v.boolean(),
  }),
  v.object({ gvb: v.literal('call'), step }),
  v.object({ gvb: v.literal('code'), step, code: v.number() }),
  v.object({ gvb: v.literal('data'), step, value: v.string(), otherwise: v.optional(v.string()) }),
  v.object({ gvb: v.literal('count'), count: v.number() }),
  v.object({
    gvb: v.literal('under'),
    owners: v.record(v.string(), v.string()),
    objects: v.array(v.string()),
    mps: v.nullable(v.number()),
    /** How much memory cuDeviceTotalMem says that the device has which it used. */
    memory: v.nullable(v.object({ uuid: v.string(), bytes: v.number() })),
  }),
  v.object({ gvb: v.literal('over'), reason: v.string() }),
  v.object({ gvb: v.literal('done') }),
]);

type Line = v.InferOutput<typeof lineSchema>;
type Of<Kind extends Line['gvb']> = Extract<Line, { gvb: Kind }>;

/** What a probe is, as the program lists it. */
export type ProbeRow = Omit<Of<'probe'>, 'gvb'>;
/** An answer of the driver, or what was read and compared. */
export type Step = Of<'code'> | Of<'data'>;

export interface Observation {
  /** Null where it had to be killed at its deadline. */
  ending: Ending | null;
  /** In the order in which they were reported. */
  steps: Step[];
  /** What it was about to do when it reported nothing more. */
  last: string | null;
  done: boolean;
  /** Why it could not continue, as it reports itself. */
  over: string | null;
  /** How many objects it made, where that is its own choice natively. */
  count: number | null;
  /** Whose functions it called; absent of one that did not come to its end. */
  under: Omit<Of<'under'>, 'gvb'> | null;
  rows: ProbeRow[];
}

export interface ProbeOptions {
  deadlineMs: number;
  signal: AbortSignal;
}

/** A layer prints what it likes; more than this of what looks like ours is no report of a probe. */
const MOST_STEPS = 100_000;

function parsed(line: string): Line | null {
  if (!line.startsWith('{"gvb":')) return null;
  try {
    const result = v.safeParse(lineSchema, JSON.parse(line));
    return result.success ? result.output : null;
  } catch {
    // Cut short by the end of the process.
    return null;
  }
}

function note(seen: Observation, line: Line): void {
  if (line.gvb === 'probe') seen.rows.push(line);
  else if (line.gvb === 'call') seen.last = line.step;
  else if (line.gvb === 'count') seen.count = line.count;
  else if (line.gvb === 'under') seen.under = line;
  else if (line.gvb === 'over') seen.over ??= line.reason;
  else if (line.gvb === 'done') seen.done = true;
  else if (seen.steps.length < MOST_STEPS) seen.steps.push(line);
}

const nothingSeen = (): Observation => ({
  ending: null,
  steps: [],
  last: null,
  done: false,
  over: null,
  count: null,
  under: null,
  rows: [],
});

/** Whatever happens, it and everything that it started has been killed when this settles. */
export async function runProbe(
  { launcher, environment, argvPrefix }: ProcessStart,
  command: readonly string[],
  { deadlineMs, signal }: ProbeOptions,
): Promise<Observation> {
  signal.throwIfAborted();
  const seen = nothingSeen();
  const process = launcher.start([...argvPrefix, ...command], { environment });
  const lines = new LineSplitter((text) => {
    const line = parsed(text);
    if (line) note(seen, line);
  });
  process.stdout.on('data', (chunk: Buffer) => lines.push(chunk)).on('end', () => lines.end());
  process.stderr.resume();
  // It may be gone before it reads that there is no input.
  process.stdin.on('error', () => {}).end();
  const stop = new AbortController();
  try {
    const late = sleep(deadlineMs, null, { signal: AbortSignal.any([stop.signal, signal]) }).catch(() => null);
    seen.ending = await Promise.race([process.ended, late]);
    signal.throwIfAborted();
    return seen;
  } finally {
    stop.abort();
    process.signal('SIGKILL');
    await process.kill();
  }
}

/** Runs one probe process with a deadline and collects its reports. */
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
    /** Whether the probe belongs to COMPAT-001 and to ERR-003; if to neither, it belongs to ERR-002. */
    compatibility: v.boolean(),
    errors: v.boolean(),
    /** Whether the probe needs the layer's state file of a tenant; it cannot test a layer without one. */
    needsState: v.boolean(),
  }),
  v.object({ gvb: v.literal('call'), step }),
  v.object({ gvb: v.literal('code'), step, code: v.number() }),
  v.object({ gvb: v.literal('data'), step, value: v.string(), otherwise: v.optional(v.string()) }),
  v.object({ gvb: v.literal('count'), count: v.number() }),
  v.object({
    gvb: v.literal('under'),
    owners: v.record(v.string(), v.string()),
    /** The functions whose address lies in the driver. */
    own: v.array(v.string()),
    objects: v.array(v.string()),
    mps: v.nullable(v.number()),
    /** The device that it used, and cuDeviceTotalMem's answer for it. */
    memory: v.nullable(v.object({ uuid: v.string(), bytes: v.number() })),
  }),
  v.object({ gvb: v.literal('over'), reason: v.string() }),
  v.object({ gvb: v.literal('done') }),
]);

type Line = v.InferOutput<typeof lineSchema>;
type Of<Kind extends Line['gvb']> = Extract<Line, { gvb: Kind }>;

/** A probe as the program lists it. */
export type ProbeRow = Omit<Of<'probe'>, 'gvb'>;
/** A code of the driver, or data that was read and compared. */
export type Step = Of<'code'> | Of<'data'>;

export interface Observation {
  /** Null if it had to be killed at its deadline. */
  ending: Ending | null;
  /** Results in the order in which the probe reported them. */
  steps: Step[];
  /** The call announced by the last report without a result. */
  last: string | null;
  done: boolean;
  /** Why it could not continue, by its own report. */
  over: string | null;
  /** How many objects it created, if it chooses the number itself (natively). */
  count: number | null;
  /** Owners of the functions it called; absent if it did not finish. */
  under: Omit<Of<'under'>, 'gvb'> | null;
  rows: ProbeRow[];
  /** How a first run was ended by a signal that did not end the second; null: it was not. */
  unrepeated: string | null;
}

interface ProbeOptions {
  deadlineMs: number;
  signal: AbortSignal;
}

/** A layer prints arbitrary text; more lines in the form of reports than this cannot be a probe's. */
const MOST_STEPS = 100_000;

function parsed(line: string): Line | null {
  if (!line.startsWith('{"gvb":')) return null;
  try {
    const result = v.safeParse(lineSchema, JSON.parse(line));
    return result.success ? result.output : null;
  } catch {
    // Truncated by the end of the process.
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
  unrepeated: null,
});

/**
 * Runs a probe, and again if a signal ended it: a crash is the probe's own if it is seen twice. `unrepeated` is the first
 * end where the second run was not ended so.
 */
export async function runProbe(
  start: ProcessStart,
  command: readonly string[],
  options: ProbeOptions,
): Promise<Observation> {
  const first = await runOnce(start, command, options);
  if (!wasKilled(first)) return first;
  const again = await runOnce(start, command, options);
  return wasKilled(again) ? again : { ...again, unrepeated: first.ending?.how ?? null };
}

const wasKilled = ({ ending }: Observation): boolean => ending !== null && ending.signal !== null;

/** When this settles, the process and everything that it started has been killed, even after an error. */
async function runOnce(
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
  // The process may end before it reads the end of its input.
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

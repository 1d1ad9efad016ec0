/** A call profile: how often a program calls each driver function, by phases. Written by `profile`. */
import * as v from 'valibot';

export const PROFILE_VERSION = 1;

/** The driver has fewer than a thousand functions. */
const MOST_FUNCTIONS = 5_000;
const MOST_PHASES = 1_000;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const text = v.pipe(v.string(), v.maxLength(10_000));
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(100));

const phaseSchema = v.strictObject({
  name,
  /** Wall time, summed over all its occurrences. */
  seconds: v.pipe(v.number(), v.finite(), v.minValue(0)),
  /** How many steps the program made in the phase; null if unknown. */
  steps: v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  /** Calls by exported name; only functions that were called. */
  calls: v.pipe(
    v.record(v.pipe(v.string(), v.regex(/^cu[A-Z]\w{0,117}$/)), v.pipe(count, v.minValue(1))),
    v.minEntries(1),
    v.maxEntries(MOST_FUNCTIONS),
  ),
});

export const callProfileSchema = v.strictObject({
  kind: v.literal('call profile'),
  schemaVersion: v.literal(PROFILE_VERSION),
  tool: v.strictObject({ name: v.literal('gpu-virt-bench'), version: v.string() }),
  name,
  origin: v.strictObject({
    /** A note by the caller. */
    note: v.optional(text),
    command: v.array(text),
    recordedAt: v.pipe(v.string(), v.isoTimestamp()),
    /** How the program ended: `exit code 0`, `SIGTERM`. */
    ended: text,
    /** Whether the driver was the simulated one. */
    simulated: v.boolean(),
    driver: v.strictObject({
      libcuda: v.nullable(text),
      /** Version of the kernel module. */
      version: v.nullable(text),
    }),
    /** Models of the machine's GPUs, as the kernel module names them. */
    gpus: v.array(text),
  }),
  /** How many of the program's processes called the driver, of how many that looked up or called a function of it. */
  processes: v.strictObject({ calling: count, of: count }),
  phases: v.pipe(v.array(phaseSchema), v.minLength(1), v.maxLength(MOST_PHASES)),
});

export type CallProfile = v.InferOutput<typeof callProfileSchema>;
export type Phase = v.InferOutput<typeof phaseSchema>;

/** The number of steps to divide by; a phase without one counts as one step. */
export const stepsOf = ({ steps }: Phase): number => steps ?? 1;

export const callsOf = ({ calls }: Phase): number => Object.values(calls).reduce((sum, each) => sum + each, 0);

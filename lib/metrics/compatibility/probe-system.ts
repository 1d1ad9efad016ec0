/** Runs probes under a system, each in a tenant of its own, and compares each with its native run. */
import * as v from 'valibot';
import type { Check } from '../../results/document.js';
import { describe } from '../../workers/description.js';
import { text } from '../core/details.js';
import type { MeasureContext } from '../core/metric.js';
import { FIRST_ID, type MetricScene, targetOf } from '../tenants/scene.js';
import { escapeOf, type Reference, referenceOf } from './escape.js';
import { type Native, type Oracle, probeCommand, type Settings } from './native-oracle.js';
import { nativeText, outcomeOf } from './outcome.js';
import { type ProbeRow, runProbe } from './probe-process.js';
import { inTurns } from './turns.js';

/** Each probe has at most two processes with a context, of about 600 MiB on a large card. */
const PROBE_BYTES = 2 * 2 ** 30;
const MOST_LANES = 4;
/**
 * Time after which a probe counts as started: generous, because under a layer it needs half a second from start to end.
 * A probe that hangs therefore delays no other.
 */
const START_MS = 2_000;

/** The outcome of a probe that does not work natively: `native` then says why. */
const NOT_RUN = 'not run';
export const SAME = 'same';

/** Details of a probe. */
export const judgedProbe = v.strictObject({
  probe: text('The probe'),
  issue: text('The public issue that it is of'),
  outcome: text(
    '`same`, `crash SIGNAL`, `hang`, `code X instead of Y`, `wrong data`, another difference from the native run, or `not run`',
  ),
  native: text('What it did natively, or why it was not run'),
  at: v.optional(text('The call at which the outcome differed')),
  escape: v.optional(text('What shows that the process was not under the system')),
  unrepeated: v.optional(text('How a first run was ended by a signal that did not end the second')),
});

export type JudgedProbe = v.InferOutput<typeof judgedProbe>;

interface ProbePlan {
  /** Number of probes that run at a time. */
  lanes: number;
  settings: Settings;
  /** Number of tenants that were used before. */
  first: number;
  progress: { from: number; to: number };
}

interface Comparable extends ProbeRow {
  native: Native;
}

/** If a probe's process was not under the system, its results say nothing about the system. */
function rowOf({ name, issue, native }: Comparable, own: Native['observation'], reference: Reference): JudgedProbe {
  const judged = outcomeOf(native.observation, own);
  const { unrepeated } = own;
  const head = {
    probe: name,
    issue,
    native: nativeText(native.observation),
    ...(unrepeated !== null && { unrepeated }),
  };
  const escape = judged.outcome === SAME ? escapeOf(own, reference) : null;
  return escape === null ? { ...head, ...judged } : { ...head, outcome: 'escapes the layer', escape };
}

/** A proven worker of the system is the reference for every probe's process. */
async function referenceIn(context: MeasureContext, scene: MetricScene, id: number): Promise<Reference> {
  const tenant = await scene.startWorker({ id });
  const reference = referenceOf(await describe(tenant.worker, targetOf(context), context.signal), context.options.path);
  await scene.prove(tenant);
  await tenant.stop();
  return reference;
}

/** The reason of a result without a judged probe: what the first of them needs. */
export function noneWorks(what: string, [first]: readonly JudgedProbe[]): string {
  return `${what} works natively here${first ? ` (${first.probe}: ${first.native})` : ''}`;
}

export const notRun = ({ name: probe, issue }: ProbeRow, reason: string): JudgedProbe => ({
  probe,
  issue,
  outcome: NOT_RUN,
  native: reason,
});

/** Path, as the tenant's processes see it, of a file that the layer keeps for that tenant alone. */
function stateOf({ system }: MeasureContext, id: number): string | null {
  const [own] = system.ownStateFiles?.({ id }) ?? [];
  return own === undefined ? null : system.launcher.pathOf(own);
}

/**
 * Runs the probes that work natively, each in its own tenant, so that state left by a killed probe does not affect the
 * next one. What another metric of the round has run is not run again.
 */
export async function probeSystem(
  context: MeasureContext,
  scene: MetricScene,
  oracle: Oracle,
  { lanes, settings: { deadlineMs }, first, progress: { from, to } }: ProbePlan,
): Promise<JudgedProbe[]> {
  const { signal } = context;
  const reference = await referenceIn(context, scene, FIRST_ID + first);
  const comparable = oracle.all
    .filter(({ excluded }) => excluded === null)
    .map((native): Comparable => ({ ...native.probe, native }));
  let done = 0;
  const turns = { lanes, startMs: context.system.staggerStarts ? START_MS : null };
  const run = async (one: Comparable, index: number): Promise<JudgedProbe> => {
    const id = FIRST_ID + first + 1 + index;
    const start = await scene.startOf({ id });
    const { count } = one.native.observation;
    const state = one.needsState ? stateOf(context, id) : null;
    if (one.needsState && state === null) return notRun(one, 'the system keeps no separate file for each tenant');
    const more = [...(count === null ? [] : ['--count', String(count)]), ...(state === null ? [] : ['--state', state])];
    const command = probeCommand(context, start.launcher, one.name, oracle, more);
    return rowOf(one, await runProbe(start, command, { deadlineMs, signal }), reference);
  };
  return inTurns(comparable, turns, async (one, index) => {
    // Some are probes of two metrics. Repetitions have tenants of their own.
    const row = await context.once.get(`probe ${one.name} after ${first} tenants, ${deadlineMs} ms`, () =>
      run(one, index),
    );
    context.progress(one.name, from + ((to - from) * ++done) / comparable.length);
    return row;
  });
}

/** Probes at a time: as many as the card's free memory and the memory limit allow; the limit may count the processes of all tenants. */
export async function lanesFor({ system, truth }: MeasureContext): Promise<number> {
  const free = (await truth?.cardMemory())?.freeBytes ?? Infinity;
  const room = Math.floor(Math.min(free, system.limits().memoryBytes ?? Infinity) / PROBE_BYTES);
  return Math.max(1, Math.min(MOST_LANES, room));
}

export const wasRun = ({ outcome }: JudgedProbe): boolean => outcome !== NOT_RUN;

export const notBare = (why: string): string =>
  `there is nothing to compare with, because no process uses the bare driver: ${why}`;

export const bareCheck = ({ all, driver }: Oracle): Check => ({
  name: 'native runs use the bare driver',
  passed: true,
  detail: `${all.length} probes were run natively, with ${driver}`,
});

/** A crash that is the layer's is seen again; one that is not may be, or the process was killed from outside. */
export function deathCheck({ all }: Oracle, rows: readonly JudgedProbe[]): Check {
  const deaths = [
    ...all.flatMap(({ probe, observation: { unrepeated } }) =>
      unrepeated === null ? [] : `${probe.name}, natively, ${unrepeated}`,
    ),
    ...rows.flatMap(({ probe, unrepeated }) => (unrepeated === undefined ? [] : `${probe} ${unrepeated}`)),
  ];
  return {
    name: 'no probe was killed only once',
    passed: deaths.length === 0,
    detail: deaths.length === 0 ? `of ${all.length}` : `${deaths.join('; ')}, and not when it was run again`,
  };
}

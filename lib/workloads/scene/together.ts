/** One run of a scene: the aggressors are brought to work, the victims are started beside them, and all are ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { clipped, merged, type Stretch, total } from '../../stats/stretches.js';
import { percent } from '../../environment/machine-health.js';
import type { Actor, Presence, Trouble } from './actor.js';
import type { ProgramActor } from './program-actor.js';
import type { Run } from '../program/run-once.js';
import { timeOf } from '../program/run-phases.js';

/**
 * Least part of a victim's time for which every other tenant must run. The number is fixed in advance; docs/exec.md
 * states it.
 */
export const LEAST_PRESENCE = 0.9;

/**
 * How far apart marks of progress of a built-in aggressor may be: twice the longest time between two, because a victim
 * may end between them.
 */
const MARKS_APART_NS = 2e8;

interface Cast<R extends Run> {
  victims: readonly ProgramActor<R>[];
  aggressors: readonly Actor[];
  /** Whether each aggressor must be at work before the next one is started. */
  staggers: boolean;
  /** Time limit for aggressors to come to work, and for victims where they are started one by one. */
  readySeconds: number;
}

export interface Together<R extends Run = Run> {
  /** Why a victim failed. */
  failure: string | null;
  /** Why the numbers are not those of this scene. */
  invalid: string | null;
  /** Runs of the victims, in their order; empty if something went wrong. */
  runs: R[];
  presences: Presence[];
  /**
   * For each victim by name, the least parts of its time, from 0 to 1, for which another tenant ran and was on the GPU.
   */
  least: ReadonlyMap<string, { running: number; onGpu: number }>;
}

/**
 * Starts the tenants and ends them. When this settles, nothing of any of them is left. Rejects with the reason of the
 * signal, or where one is broken.
 */
export async function playTogether<R extends Run>(cast: Cast<R>): Promise<Together<R>> {
  const actors = [...cast.aggressors, ...cast.victims];
  const over = new AbortController();
  const [played] = await Promise.allSettled([course(cast, actors, over.signal)]);
  over.abort();
  const outcomes = await Promise.allSettled(actors.map((actor) => actor.end()));
  for (const outcome of [...outcomes, played]) if (outcome.status === 'rejected') throw outcome.reason;
  const trouble = (played as PromiseFulfilledResult<Trouble | null>).value;
  const presences = actors.map((actor) => actor.presence());
  if (trouble) return nothing(presences, trouble);
  const runs = await Promise.all(cast.victims.map(({ measured }) => measured));
  const measured = cast.victims.map(({ name }, place) => ({
    name,
    time: timeOf(runs[place] as R) ?? { fromNs: 0, toNs: 0 },
  }));
  const least = new Map(measured.map((victim) => [victim.name, leastBeside(victim, presences)]));
  return { failure: null, invalid: whyAbsent(measured, presences), runs, presences, least };
}

const nothing = <R extends Run>(presences: Presence[], { name, isOfMeasured, why }: Trouble): Together<R> => ({
  failure: isOfMeasured ? `${name}: ${why}` : null,
  invalid: isOfMeasured ? null : `${name} did not run beside the victims: ${why}`,
  runs: [],
  presences,
  least: new Map(),
});

/** Runs a scene until every victim was measured. Resolves with what went wrong before; null if nothing did. */
function course<R extends Run>(cast: Cast<R>, actors: readonly Actor[], signal: AbortSignal): Promise<Trouble | null> {
  const { victims, aggressors, staggers, readySeconds } = cast;
  const steps = async () => {
    for (const group of staggers ? aggressors.map((one) => [one]) : [aggressors]) {
      signal.throwIfAborted();
      for (const actor of group) actor.start();
      const late = await lateOne(group, readySeconds, signal);
      if (late) return late;
    }
    for (const victim of victims) {
      signal.throwIfAborted();
      victim.start();
      if (staggers) await Promise.race([victim.atWork, victim.measured]);
    }
    await Promise.all(victims.map(({ measured }) => measured));
    return null;
  };
  // What goes wrong with one of them ends the steps, wherever they are.
  return Promise.race([steps(), ...actors.flatMap(({ trouble, broken }) => [trouble, broken])]);
}

/** Returns the first actor that is not at work in time; null where all are. */
async function lateOne(group: readonly Actor[], seconds: number, signal: AbortSignal): Promise<Trouble | null> {
  // After an abort, nobody needs the answer.
  const late = sleep(1_000 * seconds, true, { signal }).catch(() => true);
  for (const { name, atWork } of group)
    if (await Promise.race([atWork.then(() => false), late]))
      return {
        name,
        isOfMeasured: false,
        why: `after ${seconds} s it was not ready, or not seen to use the GPU: if it only needs longer, raise timeout`,
      };
  return null;
}

interface Measured {
  name: string;
  time: { fromNs: number; toNs: number };
}

/** Parts of a victim's time, from 0 to 1, for which each other tenant ran and was on the GPU. */
function partsBeside({ name, time: { fromNs: from, toNs: to } }: Measured, presences: readonly Presence[]) {
  const part = (of: readonly Stretch[]) => total(clipped(merged(of), { from, to })) / (to - from);
  return presences
    .filter((other) => other.name !== name)
    .map((other) => ({ other, running: part(other.spans), onGpu: part(other.onGpu) }));
}

function leastBeside(victim: Measured, presences: readonly Presence[]) {
  const parts = partsBeside(victim, presences);
  return {
    running: Math.min(...parts.map(({ running }) => running)),
    onGpu: Math.min(...parts.map(({ onGpu }) => onGpu)),
  };
}

/** Tenants that are a neighbour of some victim. An only victim is a neighbour of none. */
export function neighboursIn(presences: readonly Presence[]): Presence[] {
  const isOnly = presences.filter(({ role }) => role === 'victim').length === 1;
  return presences.filter(({ role }) => role === 'aggressor' || !isOnly);
}

/** Why a neighbour was not beside a victim; null where all were. */
function whyAbsent(victims: readonly Measured[], presences: readonly Presence[]): string | null {
  const failed = presences.find(({ failure }) => failure !== null);
  if (failed) return `${failed.name} did not run beside the victims: ${failed.failure}`;
  const neighbours = neighboursIn(presences);
  const unused = neighbours.find(({ use }) => use === null);
  if (unused)
    return `${unused.name} was never on the GPU: NVML listed no process of it, and none had the driver mapped`;
  const isListing = presences.some(({ use }) => use === 'listed');
  const idle = neighbours.find(({ use }) => use === 'mapped' && isListing);
  if (idle)
    return `${idle.name} was never on the GPU: a process of it had the driver mapped, but NVML listed none, while it listed others of the scene`;
  for (const victim of victims)
    for (const { other, running } of partsBeside(victim, presences)) {
      if (running < LEAST_PRESENCE)
        return `${other.name} ran for ${percent(running)} of the time of ${victim.name}, less than ${percent(LEAST_PRESENCE)}: let it run for longer before it ends`;
      const { fromNs, toNs } = victim.time;
      const isNear = (ns: number) => ns >= fromNs - MARKS_APART_NS && ns <= toNs + MARKS_APART_NS;
      if (other.marksNs !== null && !other.marksNs.some(isNear))
        return `${other.name} was held back: none of its ${other.operations} operations was over while ${victim.name} ran`;
    }
  return null;
}

/** The phases of a run: start, ready (with its checkpoints), load, end. */

/** A phase. Times are of CLOCK_MONOTONIC, in nanoseconds. */
export interface RunPhase {
  name: string;
  fromNs: number;
  toNs: number;
}

/** Moments of a run; null for what did not happen. */
interface Moments {
  fromNs: number | null;
  readyNs: number | null;
  stoppedNs: number | null;
}

/** Divides a run into phases. A program without `ready` has one. */
export function phasesOf({ fromNs, readyNs, stoppedNs }: Moments, toNs: number): RunPhase[] {
  if (fromNs === null) return [];
  const begins = [
    { name: readyNs === null ? 'run' : 'start', fromNs },
    ...(readyNs === null ? [] : [{ name: 'ready', fromNs: readyNs }]),
    ...(stoppedNs === null ? [] : [{ name: 'end', fromNs: stoppedNs }]),
  ];
  return begins
    .map((phase, i) => ({ ...phase, toNs: begins[i + 1]?.fromNs ?? toNs }))
    .filter((phase) => phase.toNs > phase.fromNs);
}

/** The time of a run from its start to its end; null for a program that did not start. */
export function timeOf({ phases }: { phases: readonly RunPhase[] }): Pick<RunPhase, 'fromNs' | 'toNs'> | null {
  const [first, last] = [phases[0], phases.at(-1)];
  return first && last ? { fromNs: first.fromNs, toNs: last.toNs } : null;
}

/** Divides the phase in which the program is ready by others within it, in the order of time. */
export function withinReady(phases: readonly RunPhase[], inner: readonly RunPhase[]): RunPhase[] {
  return phases.flatMap((phase) => {
    if (phase.name !== 'ready') return [phase];
    const parts: RunPhase[] = [];
    let fromNs = phase.fromNs;
    for (const each of inner) {
      parts.push({ ...phase, fromNs, toNs: each.fromNs }, each);
      fromNs = each.toNs;
    }
    return [...parts, { ...phase, fromNs }].filter((part) => part.toNs > part.fromNs);
  });
}

/**
 * Inserts the load into the phase in which the program is ready. With `stopAfter`, the time after the load is idle;
 * without, it is what the client takes to stop the program, which is longer on a busy machine.
 */
export function withLoad(
  phases: readonly RunPhase[],
  load: RunPhase | null,
  stopAfterSeconds: number | null,
): RunPhase[] {
  if (load === null) return [...phases];
  return phases.flatMap((phase) => {
    const [fromNs, toNs] = [Math.max(phase.fromNs, load.fromNs), Math.min(phase.toNs, load.toNs)];
    if (phase.name !== 'ready' || fromNs >= toNs) return [phase];
    const parts = [
      { ...phase, toNs: fromNs },
      { ...load, fromNs, toNs },
      ...(stopAfterSeconds ? [{ name: 'idle', fromNs: toNs, toNs: phase.toNs }] : []),
    ];
    return parts.filter((part) => part.toNs > part.fromNs);
  });
}

/**
 * Whether the processes of a program were on the MIG instance of their system, seen from outside: NVML lists processes by
 * instance, and the environment of a process names the instance that it asks for. A process that has lost the variable gets
 * whatever the driver lists first.
 */
import type { ProcessPlaces } from '../program/process-places.js';
import type { ProcessProof } from './proof-state.js';
import { byPid, type SeenProcess, usesGpu, who } from './seen-process.js';

export const VISIBLE = 'CUDA_VISIBLE_DEVICES';

export interface PlacedProcesses {
  /** UUID of the instance. */
  instance: string;
  /** PIDs of all processes that the program was seen to have. */
  pids: ReadonlySet<number>;
  /** Where NVML listed processes; null if it was not asked during the run. */
  places: Pick<ProcessPlaces, 'of'> | null;
}

/** Proves a program's processes to be on an instance. */
export function instanceProof(seen: readonly SeenProcess[], { instance, pids, places }: PlacedProcesses): ProcessProof {
  const processes = byPid(seen);
  const named = (pid: number) => who(processes.get(pid) ?? { pid, name: 'not looked at' });
  const unproven = (detail: string): ProcessProof => ({ state: 'unproven', detail });
  const placed = new Map([...pids].map((pid) => [pid, [...(places?.of(pid) ?? [])]] as const));
  for (const [pid, where] of placed) {
    const other = where.find((uuid) => uuid !== instance);
    if (other !== undefined)
      return { state: 'outside', detail: `NVML lists ${named(pid)} on ${other}, not on ${instance}` };
  }
  const there = [...placed].flatMap(([pid, where]) => (where.length > 0 ? [pid] : []));
  const unlisted = [...processes.values()].filter((each) => usesGpu(each) && !there.includes(each.pid));
  for (const each of unlisted) {
    const own = each.variables?.[VISIBLE];
    if (own !== undefined && own !== instance) return { state: 'outside', detail: changed(who(each), own, instance) };
  }
  const users = there.length + unlisted.length;
  if (users === 0) return unproven('no process of the program was seen to use the GPU');
  if (places === null) return unproven("NVML's lists of processes by instance were not read during the run");
  if (there.length === 0)
    return unproven(
      `NVML listed none of ${users} processes that used the driver on ${instance}: they ended too soon, or it shows other PIDs (as in a container)`,
    );
  const unread = unlisted.find(({ variables }) => variables?.[VISIBLE] === undefined);
  if (unread)
    return unproven(
      `NVML did not list ${who(unread)}, which used the driver, and its ${VISIBLE} could not be read before it ended`,
    );
  const others = unlisted.length === 0 ? '' : ', and the environment of the others names it';
  return {
    state: 'proven',
    detail: `NVML listed ${there.length} of ${users} processes that used the driver on ${instance}, and none elsewhere${others}`,
  };
}

function changed(process: string, visible: string | null, instance: string): string {
  const what = visible === null ? `without ${VISIBLE}` : `with ${VISIBLE}=${visible}`;
  return `${process} used the driver ${what}, which is not ${instance}: its environment was changed`;
}

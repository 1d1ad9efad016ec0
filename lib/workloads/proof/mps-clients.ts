/**
 * Whether the processes of a program were clients of the MPS daemon of its system, seen from outside: NVML lists clients
 * separately, and the environment of a process names the pipe directory of the daemon that it looks for. A process that
 * finds no daemon there uses the GPU without MPS.
 */
import type { ListedByNvml } from '../program/listed-processes.js';
import type { ProcessProof } from './proof-state.js';
import { byPid, type SeenProcess, usesGpu, who } from './seen-process.js';

export const PIPES = 'CUDA_MPS_PIPE_DIRECTORY';

export interface MpsClients {
  /** CUDA_MPS_PIPE_DIRECTORY of the system's processes. */
  pipes: string;
  /** What has it, for messages: `the daemon of mps`. */
  daemon: string;
  /** PIDs of all processes that the program was seen to have. */
  pids: ReadonlySet<number>;
  /** Processes by NVML's lists; null if these were not read during the run. */
  listed: ListedByNvml | null;
}

/**
 * Fewest samples that must list a process as no client. NVML gives its two lists one after the other: a client that
 * ends in between is in the list of all processes only, once.
 */
const TWICE = 2;

/** Proves a program's processes to be clients of a daemon. */
export function mpsProof(seen: readonly SeenProcess[], { pipes, daemon, pids, listed }: MpsClients): ProcessProof {
  const processes = byPid(seen);
  const named = (pid: number) => who(processes.get(pid) ?? { pid, name: 'not looked at' });
  const bypassing = [...(listed?.others ?? [])].find(([pid, samples]) => pids.has(pid) && samples >= TWICE);
  if (bypassing)
    return {
      state: 'outside',
      detail: `NVML lists ${named(bypassing[0])} on the GPU, but not as a client of MPS: it did not reach the daemon, or its environment was changed`,
    };
  const clients = [...(listed?.clients ?? [])].filter((pid) => pids.has(pid));
  const users = new Set([...clients, ...[...processes.values()].filter(usesGpu).map(({ pid }) => pid)]);
  for (const pid of users) {
    const own = processes.get(pid)?.variables?.[PIPES];
    if (own !== undefined && own !== pipes) return { state: 'outside', detail: elsewhere(named(pid), own, daemon) };
  }
  const unproven = (detail: string): ProcessProof => ({ state: 'unproven', detail });
  if (users.size === 0) return unproven('no process of the program was seen to use the GPU');
  if (listed === null) return unproven("NVML's list of MPS clients was not read during the run");
  if (clients.length === 0)
    return unproven(
      `NVML listed none of ${users.size} processes that used the driver as a client of MPS: they ended too soon, NVML has no such list here, or it shows other PIDs (as in a container)`,
    );
  const unread = [...users].find((pid) => processes.get(pid)?.variables?.[PIPES] === undefined);
  if (unread !== undefined)
    return unproven(`${named(unread)} used the driver, but ended before its ${PIPES} could be read`);
  return {
    state: 'proven',
    detail: `NVML listed ${clients.length} of ${users.size} processes that used the driver as clients of MPS, and the environment of each names ${daemon}`,
  };
}

function elsewhere(process: string, pipes: string | null, daemon: string): string {
  const what = pipes === null ? `without ${PIPES}` : `with ${PIPES}=${pipes}`;
  return `${process} used the driver ${what}, which is not ${daemon}: its environment was changed`;
}

/** Watches the processes of a run from outside: their memory, and what is mapped in them. */
import { readlinkSync } from 'node:fs';
import { mappedFiles } from '../../systems/proof/ld-preload.js';
import type { RemotePlace } from '../../workers/launcher.js';
import { mapsOf, nameOf, processesBelow, residentBytes, variableOf } from '../../environment/process-tree.js';
import { type SeenProcess, usesGpu } from '../proof/seen-process.js';

const INTERVAL_MS = 100;
/** Time of the first look in milliseconds: most programs have been started by exec by then. */
const FIRST_MS = 20;
/** Number of looks at a process from which on only every tenth one reads its map. */
const SPARSE = 10;
/** Most processes that are followed, far more than a program has: one may start others without end. */
const MOST_PROCESSES = 1_000;
const MOST_PIDS = 100_000;

/** What shows that a program uses the GPU: NVML lists a process of it, or one has the driver mapped. */
export type GpuUse = 'listed' | 'mapped';

export interface Watched {
  processes: SeenProcess[];
  /** Largest sum of resident memory over all processes at one time; null if none was seen. */
  residentBytes: number | null;
  /** All PIDs of the program, also of processes that were not looked at. */
  pids: ReadonlySet<number>;
  /** PIDs of processes that were not looked at because there were too many. */
  unfollowed: ReadonlySet<number>;
}

interface WatchOptions {
  /** The container of the program, whose processes may be below a daemon. */
  container?: RemotePlace | undefined;
  /** Called for every process that is seen to use the GPU. */
  onGpu?: ((how: GpuUse, atNs: number) => void) | undefined;
  /** Variables to read in each process's environment. */
  reads?: readonly string[];
}

interface Followed {
  seen: SeenProcess;
  looks: number;
}

const nowNs = (): number => Number(process.hrtime.bigint());

export class Watch {
  readonly #root: number | null;
  readonly #container: RemotePlace | undefined;
  readonly #followed = new Map<number, Followed>();
  readonly #pids = new Set<number>();
  readonly #unfollowed = new Set<number>();
  /** PIDs that NVML lists, also of other programs. */
  readonly #users = new Set<number>();
  readonly #onGpu: (how: GpuUse, atNs: number) => void;
  readonly #reads: readonly string[];
  #residentBytes: number | null = null;
  #timer: NodeJS.Timeout;

  /** Watches what is below the process `root`, if there is one, and in the container. */
  constructor(root: number | null, { container, onGpu = () => {}, reads = [] }: WatchOptions = {}) {
    [this.#root, this.#container, this.#onGpu, this.#reads] = [root, container, onGpu, reads];
    this.#timer = setTimeout(() => this.#look(), FIRST_MS);
  }

  /** Looks once more at processes of the program that NVML has begun to list. */
  using(listed: readonly number[]): void {
    const fresh = listed.filter((pid) => !this.#users.has(pid));
    if (fresh.length === 0) return;
    for (const pid of fresh) this.#users.add(pid);
    const pids = this.#processes();
    for (const pid of fresh) {
      if (!pids.includes(pid)) continue;
      this.#onGpu('listed', nowNs());
      this.#lookAt(pid, true);
    }
  }

  stop(): Watched {
    clearTimeout(this.#timer);
    return {
      processes: [...this.#followed.values()].map(({ seen }) => seen),
      residentBytes: this.#residentBytes,
      pids: this.#pids,
      unfollowed: this.#unfollowed,
    };
  }

  #processes(): number[] {
    const below = this.#root === null ? [] : processesBelow(this.#root);
    const first = this.#container?.first?.pid;
    const pids = first === undefined || below.includes(first) ? below : [...below, first, ...processesBelow(first)];
    for (const pid of pids) if (this.#pids.size < MOST_PIDS) this.#pids.add(pid);
    return pids;
  }

  #look(): void {
    const pids = this.#processes();
    const sizes = pids.flatMap((pid) => residentBytes(pid) ?? []);
    if (sizes.length > 0)
      this.#residentBytes = Math.max(
        this.#residentBytes ?? 0,
        sizes.reduce((sum, size) => sum + size),
      );
    for (const pid of pids) this.#lookAt(pid);
    this.#timer = setTimeout(() => this.#look(), INTERVAL_MS);
  }

  /**
   * Looks at one process. Reading its map delays it for a moment, so the map is read at the 1st, 2nd, 4th and 8th look,
   * then once a second, and when the process has just begun to use the GPU.
   */
  #lookAt(pid: number, isNewUser = false): void {
    const before = this.#followed.get(pid);
    const looks = (before?.looks ?? 0) + 1;
    if (!before && this.#followed.size >= MOST_PROCESSES) return void this.#unfollowed.add(pid);
    const isDue = isNewUser || (looks < SPARSE ? Number.isInteger(Math.log2(looks)) : looks % SPARSE === 0);
    // Before its map: if it becomes another program in between, a map of the driver still has the variables it came with.
    const variables = isDue ? variablesOf(pid, this.#reads) : {};
    const maps = isDue ? mapsOf(pid) : null;
    const files = maps === null ? [] : mappedFiles(maps);
    // A process that is just ending has an empty map: what was seen before is kept.
    const seen = files.length === 0 ? before?.seen : { pid, name: nameOf(pid), files, ...mountsOf(pid), variables };
    if (!seen) return;
    if (usesGpu(seen)) this.#onGpu('mapped', nowNs());
    this.#followed.set(pid, { seen, looks });
  }
}

function variablesOf(pid: number, names: readonly string[]): Record<string, string | null> {
  const found = names.map((name) => [name, variableOf(pid, name)] as const);
  return Object.fromEntries(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

export function mountsOf(pid: number): { isElsewhere: boolean; mounts: string | null } {
  try {
    const mounts = readlinkSync(`/proc/${pid}/ns/mnt`);
    return { mounts, isElsewhere: mounts !== readlinkSync('/proc/self/ns/mnt') };
  } catch {
    return { mounts: null, isElsewhere: true };
  }
}

/** Watches the processes of a run from outside: their memory, and what is mapped in them. */
import { readlinkSync } from 'node:fs';
import { mappedFiles } from '../systems/ld-preload.js';
import type { Container } from '../workers/container/container.js';
import { usesGpu } from './proof.js';
import { mapsOf, nameOf, processesBelow, residentBytes } from './process-tree.js';

const INTERVAL_MS = 100;
/** The first look: most programs have replaced what forked them by then. */
const FIRST_MS = 20;
/** Of looks at one process, from the tenth on. */
const SPARSE = 10;
/** Far more than a program has; what starts others without end is not followed without end. */
const MOST_PROCESSES = 1_000;
const MOST_PIDS = 100_000;

/** A process of the program, as it was when it was last looked at. */
export interface SeenProcess {
  pid: number;
  name: string;
  /** Mapped files. */
  files: readonly string[];
  /** It has mounts of its own, as in a container: its paths are not ours. */
  isElsewhere: boolean;
  /** Its mount namespace; null where it cannot be read, absent of what was not seen from outside. */
  mounts?: string | null;
}

/** How it is seen that a program uses the GPU: NVML lists a process of it, or one has the driver mapped. */
export type GpuUse = 'listed' | 'mapped';

export interface Watched {
  processes: SeenProcess[];
  /** Largest sum over all processes at one time; null where none was seen. */
  residentBytes: number | null;
  /** Of all its processes, also of those that were not looked at. */
  pids: ReadonlySet<number>;
}

interface Followed {
  seen: SeenProcess;
  looks: number;
}

const nowNs = (): number => Number(process.hrtime.bigint());

export class Watch {
  readonly #root: number;
  readonly #container: Container | undefined;
  readonly #followed = new Map<number, Followed>();
  readonly #pids = new Set<number>();
  /** Those that NVML lists, also of others. */
  readonly #users = new Set<number>();
  readonly #onGpu: (how: GpuUse, atNs: number) => void;
  #residentBytes: number | null = null;
  #timer: NodeJS.Timeout;

  /**
   * Of what is below the process `root`, and in `container`, whose processes may be below a daemon. `onGpu` learns of every
   * process that is seen to use the GPU.
   */
  constructor(root: number, container?: Container, onGpu: (how: GpuUse, atNs: number) => void = () => {}) {
    [this.#root, this.#container, this.#onGpu] = [root, container, onGpu];
    this.#timer = setTimeout(() => this.#look(), FIRST_MS);
  }

  /** They use the GPU, by NVML: those of the program are looked at once more. */
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
    };
  }

  #processes(): number[] {
    const below = processesBelow(this.#root);
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
   * Reading its map holds a process up for a moment: at the 1st, 2nd, 4th and 8th look, then once a second, and when it has
   * just begun to use the GPU.
   */
  #lookAt(pid: number, isNewUser = false): void {
    const before = this.#followed.get(pid);
    const looks = (before?.looks ?? 0) + 1;
    if (!before && this.#followed.size >= MOST_PROCESSES) return;
    const isDue = isNewUser || (looks < SPARSE ? Number.isInteger(Math.log2(looks)) : looks % SPARSE === 0);
    const maps = isDue ? mapsOf(pid) : null;
    const files = maps === null ? [] : mappedFiles(maps);
    // Empty of one that is just ending: what was seen of it before stands.
    const seen = files.length === 0 ? before?.seen : { pid, name: nameOf(pid), files, ...whereOf(pid) };
    if (!seen) return;
    if (usesGpu(seen)) this.#onGpu('mapped', nowNs());
    this.#followed.set(pid, { seen, looks });
  }
}

function whereOf(pid: number): { isElsewhere: boolean; mounts: string | null } {
  try {
    const mounts = readlinkSync(`/proc/${pid}/ns/mnt`);
    return { mounts, isElsewhere: mounts !== readlinkSync('/proc/self/ns/mnt') };
  } catch {
    return { mounts: null, isElsewhere: true };
  }
}

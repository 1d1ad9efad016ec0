/** Watches a run from outside: the memory of its processes, what is mapped in them, and the GPU as NVML shows it. */
import { readlinkSync } from 'node:fs';
import type { GpuState } from '../native/addon-types.js';
import { mappedFiles } from '../systems/ld-preload.js';
import type { Container } from '../workers/container/container.js';
import { mapsOf, nameOf, processesBelow, residentBytes } from './process-tree.js';

const INTERVAL_MS = 100;
/** The first look: most programs have replaced what forked them by then. */
const FIRST_MS = 20;
/** Of looks at one process, from the tenth on. */
const SPARSE = 10;
/** Far more than a program has; what starts others without end is not followed without end. */
const MOST_PROCESSES = 1_000;

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

export interface GpuReading {
  /** CLOCK_MONOTONIC, nanoseconds. */
  atNs: number;
  powerW: number | null;
  temperatureC: number | null;
  eventReasons: number | null;
  /** Of all processes of the program together; null where NVML lists none of them. */
  programBytes: number | null;
  /** That NVML lists and that are not of the program; null where it gives no list. */
  foreignPids: readonly number[] | null;
}

export interface Watched {
  processes: SeenProcess[];
  /** Largest sum over all processes at one time; null where none was seen. */
  residentBytes: number | null;
  readings: GpuReading[];
}

interface Followed {
  seen: SeenProcess;
  looks: number;
}

export class Watch {
  readonly #root: number;
  readonly #readGpu: () => Promise<GpuState | null>;
  readonly #container: Container | undefined;
  readonly #followed = new Map<number, Followed>();
  readonly #readings: GpuReading[] = [];
  /** That NVML listed. */
  readonly #users = new Set<number>();
  #residentBytes: number | null = null;
  #isStopped = false;
  #timer: NodeJS.Timeout;
  #reading: Promise<void> = Promise.resolve();

  /** Of what is below the process `root`, and in `container`, whose processes may be below a daemon. */
  constructor(root: number, readGpu: () => Promise<GpuState | null>, container?: Container) {
    this.#root = root;
    this.#readGpu = readGpu;
    this.#container = container;
    this.#timer = setTimeout(() => this.#look(), FIRST_MS);
  }

  async stop(): Promise<Watched> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#reading;
    return {
      processes: [...this.#followed.values()].map(({ seen }) => seen),
      residentBytes: this.#residentBytes,
      readings: this.#readings,
    };
  }

  #look(): void {
    const pids = this.#pids();
    const sizes = pids.flatMap((pid) => residentBytes(pid) ?? []);
    if (sizes.length > 0)
      this.#residentBytes = Math.max(
        this.#residentBytes ?? 0,
        sizes.reduce((sum, size) => sum + size),
      );
    for (const pid of pids) this.#lookAt(pid);
    this.#reading = this.#take(pids).finally(() => {
      if (!this.#isStopped) this.#timer = setTimeout(() => this.#look(), INTERVAL_MS);
    });
  }

  #pids(): number[] {
    const below = processesBelow(this.#root);
    const first = this.#container?.first?.pid;
    return first === undefined || below.includes(first) ? below : [...below, first, ...processesBelow(first)];
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
    if (seen) this.#followed.set(pid, { seen, looks });
  }

  async #take(pids: readonly number[]): Promise<void> {
    // A reading that fails is a gap, not the end of a run.
    const state = await this.#readGpu().catch(() => null);
    if (!state) return;
    const { powerW, temperatureC, eventReasons, processes } = state;
    const own = processes?.filter(({ pid }) => pids.includes(pid)) ?? [];
    for (const { pid } of own)
      if (!this.#users.has(pid)) {
        this.#users.add(pid);
        this.#lookAt(pid, true);
      }
    const used = own.flatMap(({ usedBytes }) => usedBytes ?? []);
    this.#readings.push({
      atNs: Number(process.hrtime.bigint()),
      powerW,
      temperatureC,
      eventReasons,
      programBytes: used.length > 0 ? used.reduce((sum, bytes) => sum + bytes) : null,
      foreignPids: processes?.flatMap(({ pid }) => (pids.includes(pid) ? [] : pid)) ?? null,
    });
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

/** A run that is shorter has too few readings, of which each is a mean over up to a second. */
export const SHORTEST_FOR_ENERGY_NS = 2e9;

/** In joules, of the whole card, from readings of its power; null where the run is too short or NVML gives none. */
export function energyOf(readings: readonly GpuReading[], fromNs: number, toNs: number): number | null {
  const known = readings.flatMap(({ atNs, powerW }) =>
    powerW !== null && atNs >= fromNs && atNs <= toNs ? [{ atNs, powerW }] : [],
  );
  const [first, last] = [known[0], known.at(-1)];
  if (toNs - fromNs < SHORTEST_FOR_ENERGY_NS || !first || !last || known.length < 2) return null;
  // The first and the last reading stand for what lies before and after them.
  let wattNs = first.powerW * (first.atNs - fromNs) + last.powerW * (toNs - last.atNs);
  for (const [i, { atNs, powerW }] of known.slice(1).entries()) {
    const before = known[i] as (typeof known)[number];
    wattNs += ((before.powerW + powerW) / 2) * (atNs - before.atNs);
  }
  return wattNs / 1e9;
}

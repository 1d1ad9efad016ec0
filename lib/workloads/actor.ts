/** One tenant of a scene while several run together: a program, or a built-in aggressor. */
import type { Stretch } from '../metrics/isolation/intervals.js';
import type { ProcessProof } from './proof-state.js';
import type { Role } from '../workers/tenant-handle.js';
import type { GpuUse } from './watch.js';

/** Why a tenant was not what the scene needs. */
export interface Trouble {
  name: string;
  /** Of a victim while it was measured: that is a failure of the program, all else makes the scene invalid. */
  isOfMeasured: boolean;
  why: string;
}

/** What is known of it when all have ended. */
export interface Presence {
  name: string;
  role: Role;
  /** When it ran, from when it was first at work; of CLOCK_MONOTONIC in nanoseconds. */
  spans: Stretch[];
  /** Of these, when it was on the GPU: a program that is started again first has to get there. */
  onGpu: Stretch[];
  /** How it was seen to use the GPU; `counted`: by the device. */
  use: GpuUse | 'counted' | null;
  /** How often it was started. */
  starts: number;
  /** That the device counted; null of a program. */
  operations: number | null;
  /** When operations were seen to be over; null of a program, which does not say. */
  marksNs: number[] | null;
  /** What went wrong with it; null where nothing did while it was needed. */
  failure: string | null;
  proofs: ProcessProof[];
  pids: number[];
}

/** Of one that has not been started. */
export const absent = (name: string, role: Role): Presence => ({
  ...{ name, role, spans: [], onGpu: [], use: null, starts: 0, operations: null, marksNs: null, failure: null },
  ...{ proofs: [], pids: [] },
});

export interface Actor {
  readonly name: string;
  readonly role: Role;
  start(): void;
  /** Resolves when it is at work. */
  readonly atWork: Promise<void>;
  /** Resolves with what goes wrong while it is needed. */
  readonly trouble: Promise<Trouble>;
  /** Rejects where it cannot go on for a reason of ours, or with the reason of the signal. */
  readonly broken: Promise<never>;
  /** Resolves when nothing of it is left; rejects as `broken`. */
  end(): Promise<void>;
  presence(): Presence;
}

/** A promise that is settled from outside. */
export class Settled<T> {
  resolve: (value: T) => void = () => {};
  reject: (reason: unknown) => void = () => {};
  readonly promise = new Promise<T>((resolve, reject) => {
    [this.resolve, this.reject] = [resolve, reject];
  });
}

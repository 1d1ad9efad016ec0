/** One tenant of a scene while several run together: a program, or a built-in aggressor. */
import type { Stretch } from '../../stats/stretches.js';
import type { ProcessProof } from '../proof/proof-state.js';
import type { Role } from '../../workers/tenant-handle.js';
import type { GpuUse } from '../program/watch.js';

/** Why a tenant did not do what the scene needs. */
export interface Trouble {
  name: string;
  /**
   * Whether it happened to a victim while it was measured: the program has then failed. Otherwise the scene is invalid.
   */
  isOfMeasured: boolean;
  why: string;
}

/** What is known of a tenant once all have ended. */
export interface Presence {
  name: string;
  role: Role;
  /** When the tenant ran, from when it was first at work, in nanoseconds of CLOCK_MONOTONIC. */
  spans: Stretch[];
  /** Parts of `spans` in which the tenant was on the GPU: a program that is started again needs time to get there. */
  onGpu: Stretch[];
  /** How the tenant was seen to use the GPU; `counted`: the device counted its work. */
  use: GpuUse | 'counted' | null;
  /** How often the tenant was started. */
  starts: number;
  /** Operations that the device counted; null for a program. */
  operations: number | null;
  /** Times at which operations were seen to have ended; null for a program, which does not report them. */
  marksNs: number[] | null;
  /** What went wrong with the tenant; null where nothing did while it was needed. */
  failure: string | null;
  proofs: ProcessProof[];
  pids: number[];
}

/** The presence of a tenant that has not been started. */
export const absent = (name: string, role: Role): Presence => ({
  name,
  role,
  spans: [],
  onGpu: [],
  use: null,
  starts: 0,
  operations: null,
  marksNs: null,
  failure: null,
  proofs: [],
  pids: [],
});

export interface Actor {
  readonly name: string;
  readonly role: Role;
  start(): void;
  /** Resolves when the tenant is at work. */
  readonly atWork: Promise<void>;
  /** Resolves with what goes wrong while the tenant is needed. */
  readonly trouble: Promise<Trouble>;
  /** Rejects if the tenant cannot continue because of an error of this tool, or with the reason of the signal. */
  readonly broken: Promise<never>;
  /** Ends the tenant. Resolves when nothing of it is left; rejects as `broken`. */
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

/** Base of programs and built-in aggressors, which are started once and report through promises. */
export abstract class StartedActor implements Actor {
  abstract readonly name: string;
  abstract readonly role: Role;
  protected readonly working = new Settled<void>();
  protected readonly troubled = new Settled<Trouble>();
  /** Whether the tenant is needed no longer: it is not started again, and trouble does not count. */
  protected isEnough = false;
  /** Resolves when nothing of the tenant is left. */
  protected lived: Promise<void> = Promise.resolve();
  readonly #broken = new Settled<never>();

  constructor() {
    // Those who wait for it get the error; there may be none.
    this.#broken.promise.catch(() => {});
  }

  get atWork(): Promise<void> {
    return this.working.promise;
  }

  get trouble(): Promise<Trouble> {
    return this.troubled.promise;
  }

  get broken(): Promise<never> {
    return this.#broken.promise;
  }

  start(): void {
    if (this.isEnough) return;
    this.lived = this.live();
    this.lived.catch(this.#broken.reject);
  }

  abstract end(): Promise<void>;
  abstract presence(): Presence;
  protected abstract live(): Promise<void>;
}

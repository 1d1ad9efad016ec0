/**
 * A program of a scene. An aggressor, and a victim of several once it was measured, is started again whenever it ends, until
 * all victims were measured.
 */
import type { Stretch } from '../../stats/stretches.js';
import { absent, type Presence, Settled, StartedActor } from './actor.js';
import type { Beside, Run } from '../program/run-once.js';
import { timeOf } from '../program/run-phases.js';
import type { GpuUse } from '../program/watch.js';

/**
 * How long the driver must have been mapped in a program that NVML does not list until the program is taken to be at
 * work.
 */
const SETTLE_MS = 5_000;
const SETTLE_NS = SETTLE_MS * 1e6;

/** What each start of the program is given. */
export interface LifeRequest {
  /** Number of the start, from 1. */
  life: number;
  isMeasured: boolean;
  beside: Beside;
  onReady: () => void;
}

export interface ProgramActorOptions<R extends Run> {
  name: string;
  role: 'victim' | 'aggressor';
  /** Whether `ready` says when the program is at work after its first start. */
  hasReady: boolean;
  /** Whether the program is started again whenever it ends. */
  repeats: boolean;
  run: (request: LifeRequest) => Promise<R>;
}

interface Life<R extends Run> {
  run: R;
  use: GpuUse | null;
  /**
   * Times from which the program counts as running and as being on the GPU, and of its end; null if it never began to
   * work.
   */
  from: { runningNs: number; onGpuNs: number; toNs: number } | null;
  /** Whether it was started again and ended with the scene before NVML listed it, which proves nothing either way. */
  isCutOff: boolean;
}

export class ProgramActor<R extends Run = Run> extends StartedActor {
  readonly name: string;
  readonly role: 'victim' | 'aggressor';
  readonly #options: ProgramActorOptions<R>;
  readonly #enough = new Settled<void>();
  readonly #measured = new Settled<R>();
  readonly #lives: Life<R>[] = [];
  #failure: string | null = null;

  constructor(options: ProgramActorOptions<R>) {
    super();
    this.#options = options;
    [this.name, this.role] = [options.name, options.role];
  }

  /** The first run of a victim, once it has ended. */
  get measured(): Promise<R> {
    return this.#measured.promise;
  }

  async end(): Promise<void> {
    this.isEnough = true;
    this.#enough.resolve();
    await this.lived;
  }

  presence(): Presence {
    const proving = this.#lives.filter(
      ({ from, run, isCutOff }) => run.proof.state === 'outside' || (from !== null && !isCutOff),
    );
    const uses = this.#lives.map(({ use }) => use);
    const since = (key: 'runningNs' | 'onGpuNs'): Stretch[] =>
      this.#lives.flatMap(({ from }) => (from ? [{ from: from[key], to: from.toNs }] : []));
    return {
      ...absent(this.name, this.role),
      spans: since('runningNs'),
      onGpu: since('onGpuNs'),
      use: uses.find((use) => use === 'listed') ?? uses.find((use) => use !== null) ?? null,
      starts: this.#lives.length,
      failure: this.#failure,
      proofs: proving.map(({ run }) => run.proof),
      pids: [...new Set(this.#lives.flatMap(({ run }) => [...run.watched.pids]))],
    };
  }

  protected async live(): Promise<void> {
    for (let life = 1; !this.isEnough; life++) {
      const { run, from } = await this.#oneLife(life);
      const isMeasured = this.role === 'victim' && life === 1;
      const why = run.failure ?? (from === null ? 'it ended before it was seen to use the GPU' : null);
      if (why !== null && !this.isEnough) {
        this.#failure = why;
        return this.troubled.resolve({ name: this.name, isOfMeasured: isMeasured, why });
      }
      if (isMeasured) this.#measured.resolve(run);
      if (!this.#options.repeats) return;
    }
  }

  async #oneLife(life: number): Promise<Life<R>> {
    const isMeasured = this.role === 'victim' && life === 1;
    const seen: { use: GpuUse | null; sinceNs: number | null; timer?: NodeJS.Timeout } = { use: null, sinceNs: null };
    const usesReady = this.#options.hasReady && life === 1;
    const onGpu: Beside['onGpu'] = (how, atNs) => {
      if (seen.use === how || seen.use === 'listed') return;
      seen.use = how;
      seen.sinceNs = how === 'listed' ? Math.min(atNs, seen.sinceNs ?? atNs) : atNs + SETTLE_NS;
      if (usesReady) return;
      if (how === 'listed') this.working.resolve();
      else seen.timer = setTimeout(this.working.resolve, SETTLE_MS);
    };
    const onReady = () => usesReady && this.working.resolve();
    try {
      const beside = { enough: this.#enough.promise, onGpu };
      const run = await this.#options.run({ life, isMeasured, beside, onReady });
      const time = timeOf(run);
      const readyNs = time && run.readySeconds !== null ? time.fromNs + 1e9 * run.readySeconds : null;
      // The start of a victim is part of what is measured of all victims.
      const workNs = isMeasured ? (time?.fromNs ?? null) : usesReady ? readyNs : seen.sinceNs;
      const isAtWork = time !== null && workNs !== null && workNs <= time.toNs;
      const runningNs = life === 1 ? workNs : (time?.fromNs ?? null);
      const from = isAtWork && runningNs !== null ? { runningNs, onGpuNs: workNs, toNs: time.toNs } : null;
      const isCutOff = life > 1 && this.isEnough && seen.use !== 'listed';
      const done: Life<R> = { run, use: seen.use, from, isCutOff };
      this.#lives.push(done);
      return done;
    } finally {
      clearTimeout(seen.timer);
    }
  }
}

/** The runs of a scene: every victim alone, and all together, in turn; repeated where they vary. */
import type { Check } from '../../results/document.js';
import { ownServers } from '../../environment/mps.js';
import type { MetricScene } from '../../metrics/tenants/scene.js';
import { coolDown } from '../round/health.js';
import { type AnsweredSwitch, type SceneTurns, withAnswers } from './answered-switches.js';
import type { ProgramActor } from './program-actor.js';
import type { ProcessProof } from '../proof/proof-state.js';
import { cvOf, mostRepeats, REPEAT_RULE } from '../round/round-of-runs.js';
import type { MeasuredRun } from '../program/measured-run.js';
import { sceneChecks } from './scene-checks.js';
import {
  type Arm,
  arms,
  noRuns,
  type PlayedRun,
  type SceneRequest,
  type SceneRound,
  type VictimRuns,
} from './scene-runs.js';
import { SceneStarts } from './scene-starts.js';
import { victimsOf } from './scene-type.js';
import { playTogether, type Together } from './together.js';

/** Ends the round: a program that failed once would most likely fail again. */
class Over extends Error {
  constructor(
    readonly state: 'failure' | 'invalid',
    message: string,
  ) {
    super(message);
  }
}

export class SceneRunner {
  readonly #request: SceneRequest;
  readonly #starts: SceneStarts;
  readonly #runs: Map<string, VictimRuns>;
  readonly #warmups: Map<string, VictimRuns>;
  readonly #together: Together<PlayedRun>[] = [];
  readonly #switches: AnsweredSwitch[][] = [];
  readonly #cvs: (number | null)[] = [];
  readonly #proofs: ProcessProof[] = [];
  readonly #notes = new Set<string>();
  readonly #ownPids = new Set<number>();
  #over: Over | null = null;

  constructor(request: SceneRequest, metricScene: MetricScene) {
    [this.#request, this.#starts] = [request, new SceneStarts(request, metricScene)];
    this.#runs = noRuns(request.scene);
    this.#warmups = noRuns(request.scene);
  }

  async all(): Promise<void> {
    try {
      await this.#all();
    } catch (error) {
      if (!(error instanceof Over)) throw error;
      this.#over = error;
    }
  }

  round(): SceneRound {
    const { scene, context, tenants } = this.#request;
    const limits = tenants.map((tenant, place) => ({
      tenant: scene.tenants[place]?.name as string,
      ...context.system.limits(tenant),
    }));
    return {
      failure: this.#over?.state === 'failure' ? this.#over.message : null,
      invalid: this.#over?.state === 'invalid' ? this.#over.message : null,
      unsupported: null,
      victims: this.#runs,
      warmups: this.#warmups,
      cvs: this.#cvs,
      together: this.#together,
      turns: this.#turns(),
      limits,
      checks: this.#checks(),
      notes: [...this.#notes],
    };
  }

  async #all(): Promise<void> {
    const { warmup, iterations } = this.#request.scene;
    for (let i = 0; i < warmup; i++) await this.#turn(true, i, warmup);
    for (let repeat = 0, done = 0; ; repeat++) {
      const of = (repeat + 1) * iterations;
      for (; done < of; done++) await this.#turn(false, done, of);
      const cv = this.#largestCv();
      this.#cvs.push(cv);
      if (cv === null || cv <= REPEAT_RULE.largestCv || repeat === mostRepeats(iterations)) return;
    }
  }

  /**
   * Runs every victim alone and all together, forwards and backwards in turn, so that a drift of the machine affects
   * all equally.
   */
  async #turn(isWarmup: boolean, index: number, of: number): Promise<void> {
    const { scene, context } = this.#request;
    const what = `${isWarmup ? 'warm-up' : 'run'} ${index + 1} of ${of}`;
    const steps = [
      ...victimsOf(scene).map(({ name }) => ({
        name: `${name} alone`,
        play: () => this.#alone(name, isWarmup, index),
      })),
      { name: 'together', play: () => this.#allTogether(isWarmup, index) },
    ];
    for (const { name, play } of index % 2 === 0 ? steps : steps.toReversed()) {
      context.progress(`${what}, ${name}`, index / of);
      try {
        await play();
      } catch (error) {
        throw error instanceof Over ? new Over(error.state, `${what}, ${name}: ${error.message}`) : error;
      }
    }
  }

  async #alone(name: string, isWarmup: boolean, index: number): Promise<void> {
    const cooled = await this.#cool();
    const run = await this.#starts.alone(this.#placeOf(name), { isWarmup, index });
    this.#starts.closeRecords();
    this.#judgeTurns();
    if (run.failure !== null) throw new Over('failure', run.failure);
    this.#judge([run.proof], name, isWarmup);
    this.#keep(name, 'alone', isWarmup, { ...run, cooled });
  }

  async #allTogether(isWarmup: boolean, index: number): Promise<void> {
    const { scene, context } = this.#request;
    const cooled = await this.#cool();
    const before = context.system.turns?.().switches.length ?? 0;
    const actors = scene.tenants.map((_, place) => this.#starts.actor(place, { isWarmup, index }));
    const victims = actors.filter((actor): actor is ProgramActor<PlayedRun> => actor.role === 'victim');
    const played = await playTogether({
      victims,
      aggressors: actors.filter(({ role }) => role === 'aggressor'),
      // Those that take turns are held until theirs.
      staggers: context.system.staggerStarts && context.system.turns === undefined,
      readySeconds: scene.timeoutSeconds,
    });
    this.#starts.closeRecords();
    for (const { pids } of played.presences) for (const pid of pids) this.#ownPids.add(pid);
    this.#judgeTurns();
    // A program that was not under the system explains all other failures.
    for (const { name, proofs } of played.presences) this.#judge(proofs, name, isWarmup);
    if (played.failure !== null) throw new Over('failure', played.failure);
    if (played.invalid !== null) throw new Over('invalid', played.invalid);
    for (const [place, run] of played.runs.entries())
      this.#keep(victims[place]?.name as string, 'together', isWarmup, { ...run, cooled });
    if (isWarmup) return;
    this.#together.push(played);
    this.#noteSwitches(before, victims, played.runs);
  }

  /** Tenants that did not take turns explain all other failures. */
  #judgeTurns(): void {
    const { system, proofs } = this.#request.context;
    const why = system.turns?.().failure ?? null;
    if (why === null) return;
    const invalid = `layer not active: one tenant on the card at a time: ${why}`;
    proofs.countProgram(false, invalid);
    throw new Over('invalid', invalid);
  }

  #noteSwitches(before: number, victims: readonly ProgramActor<PlayedRun>[], runs: readonly PlayedRun[]): void {
    const { context, tenants } = this.#request;
    const switches = context.system.turns?.().switches.slice(before);
    if (!switches) return;
    const answering = victims.map(({ name }, place) => ({
      name,
      tenant: `${tenants[this.#placeOf(name)]?.id}`,
      answers: runs[place]?.answers ?? null,
    }));
    this.#switches.push(withAnswers(switches, answering));
  }

  #turns(): SceneTurns | null {
    const { system } = this.#request.context;
    const report = system.turns?.();
    if (system.turnMs === undefined || !report) return null;
    return { sliceMs: system.turnMs, runs: this.#switches, mostUsedBytes: report.mostUsedBytes };
  }

  async #cool() {
    const { scene, memory, readGpu, context } = this.#request;
    const cooled = await coolDown(scene.coolDown, memory.referenceC, readGpu, context.signal);
    memory.referenceC ??= cooled.temperatureC;
    return cooled;
  }

  #placeOf(name: string): number {
    return this.#request.scene.tenants.findIndex((tenant) => tenant.name === name);
  }

  #keep(name: string, arm: Arm, isWarmup: boolean, run: MeasuredRun): void {
    (isWarmup ? this.#warmups : this.#runs).get(name)?.[arm].push(run);
    for (const note of [...run.notes, ...(run.load?.notes ?? [])]) this.#notes.add(note);
  }

  #judge(proofs: readonly ProcessProof[], name: string, isWarmup: boolean): void {
    const outside = proofs.find(({ state }) => state === 'outside');
    const invalid = outside ? `layer not active: ${name}: ${outside.detail}` : null;
    if (!isWarmup || invalid !== null)
      for (const { state } of proofs)
        this.#request.context.proofs.countProgram(state === 'proven', state === 'outside' ? invalid : null);
    if (!isWarmup) this.#proofs.push(...proofs);
    if (invalid !== null) throw new Over('invalid', invalid);
  }

  #largestCv(): number | null {
    const cvs = victimsOf(this.#request.scene).flatMap(({ name, program }) =>
      arms.map((arm) => cvOf(program, (this.#runs.get(name) as VictimRuns)[arm])),
    );
    const known = cvs.filter((cv) => cv !== null);
    return known.length === 0 ? null : Math.max(...known);
  }

  #checks(): Check[] {
    const { scene, context } = this.#request;
    return sceneChecks({
      scene,
      proofs: this.#proofs,
      together: this.#together,
      cvs: this.#cvs,
      warmups: allOf(this.#warmups),
      runs: allOf(this.#runs),
      listsProcesses: this.#request.monitor.listsProcesses,
      ownPids: [...this.#ownPids, ...ownServers(context.system.environment())],
    });
  }
}

const allOf = (runs: ReadonlyMap<string, VictimRuns>): MeasuredRun[] =>
  [...runs.values()].flatMap(({ alone, together }) => [...alone, ...together]);

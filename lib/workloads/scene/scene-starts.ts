/** How the tenants of a scene are started: one alone, or each as an actor among the others. */
import type { MetricScene } from '../../metrics/tenants/scene.js';
import type { Tenant } from '../../systems/system.js';
import type { Actor } from './actor.js';
import { AnswerTimes } from './answer-times.js';
import { BuiltInActor } from './built-in-actor.js';
import { LONGEST_S, PER_RUN_S } from '../metrics/metrics-of-workload.js';
import { meantGpus, type ProgramEnvironment, programEnvironment } from '../program/program-environment.js';
import { type LifeRequest, ProgramActor } from './program-actor.js';
import { expectedOf, saidWhileWaiting } from '../round/round-of-runs.js';
import { failedRun, runOnce } from '../program/run-once.js';
import { withLoad } from '../program/run-phases.js';
import type { PlayedRun, SceneRequest } from './scene-runs.js';
import { ServedLoad } from '../round/served-load.js';
import { victimsOf } from './scene-type.js';
import type { SceneTenant } from '../workload-type.js';
import type { Workload } from '../workload-type.js';

/** Which run a start is for. */
interface Which {
  isWarmup: boolean;
  /** Number of the run, from 0. */
  index: number;
}

type ProgramTenant = Extract<SceneTenant, { program: Workload }>;

export class SceneStarts {
  readonly #request: SceneRequest;
  readonly #metricScene: MetricScene;
  readonly #environments: ReadonlyMap<string, Promise<ProgramEnvironment>>;
  readonly #open: (() => void)[] = [];

  constructor(request: SceneRequest, metricScene: MetricScene) {
    [this.#request, this.#metricScene] = [request, metricScene];
    this.#environments = new Map(
      request.scene.tenants.flatMap((tenant, place) =>
        'program' in tenant ? [[tenant.name, this.#environmentOf(tenant.program, place)]] : [],
      ),
    );
  }

  /** Runs a victim by itself. */
  alone(place: number, which: Which): Promise<PlayedRun> {
    return this.#run(place, which);
  }

  /** Returns the tenant as an actor, for a run in which all run together. */
  actor(place: number, which: Which): Actor {
    const { scene, context, tenants } = this.#request;
    const tenant = scene.tenants[place] as SceneTenant;
    const { name, role } = tenant;
    if ('task' in tenant)
      return new BuiltInActor(this.#metricScene, {
        name,
        task: tenant.task,
        tenant: tenants[place] as Tenant,
        quotaBytes: context.system.limits(tenants[place]).memoryBytes ?? 0,
        mostSeconds: this.#mostSeconds(),
        signal: context.signal,
      });
    return new ProgramActor<PlayedRun>({
      name,
      role,
      hasReady: tenant.program.ready !== null,
      repeats: role === 'aggressor' || victimsOf(scene).length > 1,
      run: (life) => this.#run(place, which, life),
    });
  }

  /**
   * Time limit of an aggressor: more than all tenants can take together, so that none is stopped before the victims
   * have ended.
   */
  #mostSeconds(): number {
    const { timeoutSeconds, tenants } = this.#request.scene;
    return Math.min(LONGEST_S, (tenants.length + 1) * (timeoutSeconds + PER_RUN_S));
  }

  async #run(place: number, which: Which, life?: LifeRequest): Promise<PlayedRun> {
    const { scene, context, tenants, monitor } = this.#request;
    const { name, program } = scene.tenants[place] as ProgramTenant;
    const { system, signal } = context;
    const isMeasured = life === undefined || life.isMeasured;
    const logs = this.#logsOf(name, which, life);
    const gpu = monitor.record(logs !== null && isMeasured && scene.monitor.csv ? `${logs}.monitor.csv` : null);
    const given = await (this.#environments.get(name) as Promise<ProgramEnvironment>);
    if ('refused' in given) return { ...failedRun(given.refused), gpu, load: null, answers: null };
    const turns = system.programOf?.(tenants[place] as Tenant);
    const answers = turns && isMeasured ? new AnswerTimes() : null;
    const load =
      isMeasured && program.load
        ? new ServedLoad(program.load, logs && `${logs}.requests.jsonl`, (record) => answers?.noteRequest(record))
        : null;
    const run = await runOnce({
      workload: isMeasured ? program : this.#unmeasured(program, life),
      argvPrefix: system.argvPrefix(tenants[place]),
      launcher: system.launcher,
      environment: given.environment,
      logs,
      expected: expectedOf(context, tenants[place]),
      gpu,
      whileReady: async (own, fromNs) => {
        life?.onReady();
        await load?.run(own, fromNs);
      },
      onWaiting: saidWhileWaiting(context, `${scene.name}/${name}`, name, which.index / scene.iterations),
      ...(life && { beside: life.beside }),
      turns,
      ...(answers && !load && { onOutput: (atNs) => answers.note(atNs) }),
      signal,
    });
    const served = (await load?.finish()) ?? null;
    const course = {
      phases: withLoad(run.phases, served?.phase ?? null, program.stopAfterSeconds),
      pids: run.watched.pids,
    };
    this.#open.push(() => gpu.close(course));
    return { ...run, gpu, load: served, answers };
  }

  /**
   * Closes the records, once all tenants have ended: until then, their processes would count as foreign to each other.
   */
  closeRecords(): void {
    for (const close of this.#open.splice(0)) close();
  }

  /**
   * The program without measurement, which runs until it is stopped. A later start has no `ready`, because it finds
   * what the first one left, such as its file.
   */
  #unmeasured(program: Workload, { life }: LifeRequest): Workload {
    const timeoutSeconds = this.#mostSeconds();
    return {
      ...program,
      load: null,
      metrics: [],
      stopAfterSeconds: null,
      timeoutSeconds,
      ready: life === 1 ? program.ready : null,
    };
  }

  /**
   * Path of the logs of a start without their ending: `run-0001-alone/victim`, `run-0001/victim`, or for a second start
   * `run-0001/trainer.2`.
   */
  #logsOf(name: string, { isWarmup, index }: Which, life?: LifeRequest): string | null {
    const { scene, settings, context } = this.#request;
    if (settings.logsOf === null) return null;
    const run = `${isWarmup ? 'warm-up' : 'run'}-${String(index + 1).padStart(4, '0')}${life ? '' : '-alone'}`;
    const start = life && life.life > 1 ? `.${life.life}` : '';
    return `${settings.logsOf(scene.name, context.system.name)}/${run}/${name}${start}`;
  }

  #environmentOf(program: Workload, place: number): Promise<ProgramEnvironment> {
    const { settings, context, tenants } = this.#request;
    const { system, simulatedDriver } = context;
    return programEnvironment(program, {
      system,
      simulatedDriver,
      caller: settings.caller,
      gpus: meantGpus(context),
      tenant: tenants[place] as Tenant,
    });
  }
}

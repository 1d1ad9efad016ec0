/** A built-in aggressor of a scene: a worker under the system, whose work the device counts. */
import { messageOf } from '../../errors/message-of.js';
import { idleReason } from '../../metrics/isolation/shared/aggressor-menu.js';
import type { MetricScene } from '../../metrics/tenants/scene.js';
import type { Aggression, AggressorKind } from '../../native/addon-types.js';
import { loadAddon } from '../../native/load.js';
import type { Tenant } from '../../systems/system.js';
import type { AttackRequest } from '../../native/attack-request.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { absent, type Presence, StartedActor } from './actor.js';

type Attack = Aggression & { startAtNs: number };

interface BuiltInActorOptions {
  name: string;
  task: AggressorKind;
  tenant: Tenant;
  /** Memory limit of the tenant in bytes; 0 where there is none. */
  quotaBytes: number;
  /** Time limit, far longer than the aggressor is needed. */
  mostSeconds: number;
  signal: AbortSignal;
}

const ANSWER_MS = 120_000;

/** Offset from CLOCK_MONOTONIC_RAW, whose times workers report, to CLOCK_MONOTONIC, whose times programs have. */
const toMonotonicNs = (): number => Number(process.hrtime.bigint()) - loadAddon().now();

export class BuiltInActor extends StartedActor {
  readonly name: string;
  readonly role = 'aggressor';
  readonly #scene: MetricScene;
  readonly #options: BuiltInActorOptions;
  #isAtWork = false;
  #worker: WorkerTenant | null = null;
  #presence: Presence;

  constructor(scene: MetricScene, options: BuiltInActorOptions) {
    super();
    [this.#scene, this.#options, this.name] = [scene, options, options.name];
    this.#presence = absent(this.name, this.role);
  }

  async end(): Promise<void> {
    this.isEnough = true;
    const worker = this.#worker?.worker;
    // A request before it began would not reach the device. A failure just now is reported already.
    if (worker?.alive && this.#isAtWork)
      await worker.request('endAttack', {}, { deadlineMs: ANSWER_MS }).catch(() => {});
    else await worker?.kill();
    await this.lived;
  }

  presence(): Presence {
    return this.#presence;
  }

  protected async live(): Promise<void> {
    const { tenant, signal } = this.#options;
    try {
      this.#worker = await this.#scene.enter(tenant, 'aggressor');
      this.#presence = { ...this.#presence, starts: 1, pids: [this.#worker.worker.pid] };
      if (!this.isEnough) this.#note(await this.#attack(this.#worker), this.#worker);
    } catch (error) {
      signal.throwIfAborted();
      if (this.#isAtWork || !this.isEnough) this.#tell(messageOf(error));
    }
    if (!this.#worker) return;
    // Rejects where it was not under the system: then nothing of the scene counts.
    if (this.#presence.use === 'counted') await this.#scene.prove(this.#worker);
    else this.#scene.excuse(this.#worker);
    await this.#worker.stop();
  }

  #attack({ worker }: WorkerTenant): Promise<Attack> {
    const { task, quotaBytes, mostSeconds, signal } = this.#options;
    const params: AttackRequest = { kind: task, quotaBytes, mostNs: 1e9 * mostSeconds };
    return worker.request('attack', params, {
      deadlineMs: 1_000 * mostSeconds + ANSWER_MS,
      signal,
      onProgress: () => {
        this.#isAtWork = true;
        this.working.resolve();
      },
    }) as Promise<Attack>;
  }

  #note(attack: Attack, { worker }: WorkerTenant): void {
    const offset = toMonotonicNs();
    const at = (ns: number) => worker.oursNs(attack.startAtNs + ns) + offset;
    const idle = idleReason(attack);
    const spans = [{ from: at(attack.startedNs), to: at(attack.endedNs) }];
    this.#presence = {
      ...this.#presence,
      spans,
      onGpu: spans,
      marksNs: attack.marksNs.map(at),
      use: idle === null ? 'counted' : null,
      operations: attack.operations,
    };
    if (idle !== null) this.#tell(idle);
    else if (!this.isEnough) this.#tell('it ended before the victims');
  }

  #tell(why: string): void {
    this.#presence = { ...this.#presence, failure: why };
    this.troubled.resolve({ name: this.name, isOfMeasured: false, why });
  }
}

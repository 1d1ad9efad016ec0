/** The bare driver with tenants that take turns on the card. Guardian and controller live while a tenant does. */
import { CheckpointGuardian } from '../../../checkpoint/checkpoint-guarding.js';
import { Controller } from '../../../checkpoint/controller.js';
import { guardedBy } from '../../../checkpoint/guarded-launcher.js';
import { rotatedBy, TENANT, type Turns } from '../../../checkpoint/rotating-launcher.js';
import { RotatingProgram } from '../../../checkpoint/rotating-program.js';
import { Rotation, type RotationReport } from '../../../checkpoint/rotation.js';
import { NOT_LISTED, tryCheckpoint } from '../../../checkpoint/trial.js';
import { durationText } from '../../../config/duration.js';
import { BenchError } from '../../../errors/bench-error.js';
import { readGpuState } from '../../../native/gpu-state.js';
import type { Description } from '../../../workers/description.js';
import { localStart } from '../../../workers/local.js';
import type { Prepared, ProfileOptions } from '../../profile.js';
import type { Finding } from '../../proof/proof-finding.js';
import { asProof } from '../../proof/attestation.js';
import { type Attestation, type Evidence, SOLE_TENANT, type Tenant } from '../../system.js';
import { NativeSystem } from '../native/native-system.js';

interface Living extends Turns {
  controller: Controller;
}

export class SwapSystem extends NativeSystem {
  override readonly kind = 'swap';
  override unavailable: string | null = null;
  override readonly staggerStarts = true;
  override readonly launcher = rotatedBy(() => this.#turns());
  readonly turnMs: number;
  readonly #tenants = new Set<number>();
  #living: Living | null = null;

  constructor(options: ProfileOptions, sliceMs: number) {
    super(options);
    this.turnMs = sliceMs;
  }

  override get settings(): Record<string, string> {
    return { slice: durationText(this.turnMs) };
  }

  override async prepareTenant(tenant: Tenant): Promise<void> {
    await super.prepareTenant(tenant);
    this.#tenants.add(tenant.id);
  }

  override async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const attestation = await super.attest(description, evidence);
    const found = inTurns(this.turns());
    if (found.passed) return { ...attestation, proofs: [...attestation.proofs, asProof(found)] };
    return {
      ...attestation,
      proofs: [...attestation.proofs, asProof(found)],
      invalid: attestation.invalid ?? `layer not active: ${found.proof}: ${found.detail}`,
    };
  }

  turns(): RotationReport {
    return this.#living?.rotation.report() ?? { switches: [], mostUsedBytes: null, failure: null };
  }

  programOf({ id }: Tenant): RotatingProgram {
    return new RotatingProgram(this.#turns(), `${id}`);
  }

  override async reap({ id }: Tenant): Promise<void> {
    this.#tenants.delete(id);
    if (this.#tenants.size > 0) return;
    const [left] = await this.#quit();
    if (left !== undefined) throw new BenchError('SYSTEM', `${this.name}: ${left}.`);
  }

  protected override async begin({ run }: Prepared): Promise<void> {
    const trial = await tryCheckpoint({
      environment: this.environment(SOLE_TENANT),
      target: run.target,
      gpu: run.gpu.uuid,
      deadlineMs: run.timeoutMs,
    });
    this.unavailable =
      trial.reason !== null
        ? `checkpoints do not work here: ${trial.reason}`
        : trial.listed
          ? null
          : `${NOT_LISTED} one tenant at a time is on the card`;
  }

  protected override end(): Promise<string[]> {
    this.#tenants.clear();
    return this.#quit();
  }

  protected override variables({ id }: Tenant): Record<string, string> {
    return { [TENANT]: `${id}` };
  }

  #turns(): Living {
    this.#living ??= this.#begun();
    return this.#living;
  }

  #begun(): Living {
    const { target, gpu } = this.prepared.run;
    const environment = this.environment(SOLE_TENANT);
    const guardian = new CheckpointGuardian(target, environment);
    const controller = new Controller(localStart(environment), target);
    const rotation = new Rotation(this.turnMs, {
      call: (name, pid) => controller.call(name, pid),
      look: () => readGpuState(target, gpu.uuid, 'all'),
      stop: (pid, isStopped) => signalled(pid, isStopped ? 'SIGSTOP' : 'SIGCONT'),
    });
    return { guardian, controller, rotation, gpu: gpu.uuid, guarded: guardedBy(guardian, gpu.uuid) };
  }

  /** Ends what is left; answers what could not be ended. */
  async #quit(): Promise<string[]> {
    const living = this.#living;
    this.#living = null;
    if (!living) return [];
    await living.controller.stop();
    return living.guardian.close();
  }
}

function inTurns({ failure, switches }: RotationReport): Finding & { passed: boolean } {
  return {
    proof: 'one tenant on the card at a time',
    passed: failure === null,
    detail:
      failure ??
      (switches.length === 0
        ? 'the driver makes checkpoints, and no tenant had to wait for another'
        : `after each of ${switches.length} checkpoints NVML listed none of the tenant's processes, and never two tenants`),
    advice: 'Run doctor: it tries a checkpoint.',
  };
}

function signalled(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has just ended.
  }
}

/**
 * Green contexts: a worker enters a context on a part of the multiprocessors, which the driver sets apart within the
 * process. It is what an application does to itself, so programs of others are not under it. Contexts of several processes
 * take turns, as without it.
 */
import { CONFINED_VARIABLE } from '../../../native/confined.js';
import type { Description } from '../../../workers/description.js';
import { NativeSystem } from '../native/native-system.js';
import { joined } from '../../proof/joined.js';
import { judge } from '../../proof/judgement.js';
import type { ProfileOptions, WantedLimits } from '../../profile.js';
import { type Attestation, type Capabilities, type Evidence, NO_LIMITS, type Tenant } from '../../system.js';
import { partOfCard, whereKernelsRan } from './green-context-proofs.js';

interface GreenContextOptions extends ProfileOptions {
  sm: number;
}

export class GreenContextSystem extends NativeSystem {
  override readonly kind = 'green-context';
  override readonly capabilities: Capabilities = { ...NO_LIMITS, computeLimit: 'smCap' };
  override readonly limitsCoexist = true;
  /** Nothing that a process could be asked shows where its kernels run. */
  readonly provesByKernels = true;
  readonly whyNoPrograms: string;
  readonly #sm: number;

  constructor(options: GreenContextOptions) {
    super(options);
    this.#sm = options.sm;
    this.whyNoPrograms = `a program makes its green contexts itself, and ${this.name} is only of the tool's own processes: measure it by compare`;
  }

  override async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const look = this.look(evidence);
    const wanted = this.#multiprocessors(look.tenant);
    const bare = await super.attest(description, evidence);
    const { multiprocessors } = this.prepared.run.gpu;
    const findings = [partOfCard(look.probe, wanted, multiprocessors), whereKernelsRan(look.probe, wanted)];
    return joined(judge(description, look, null, findings), bare);
  }

  protected override wantedLimits(): WantedLimits {
    return { memory: undefined, sm: this.#sm };
  }

  protected override variables(tenant: Tenant): Record<string, string> {
    const wanted = this.#multiprocessors(tenant);
    return wanted === null ? {} : { [CONFINED_VARIABLE]: `${wanted}` };
  }

  /** The most that a tenant may use; null: all. */
  #multiprocessors(tenant: Tenant): number | null {
    const { smPercent } = this.limits(tenant);
    if (smPercent === null || smPercent === 100) return null;
    return Math.max(1, Math.floor((this.prepared.run.gpu.multiprocessors * smPercent) / 100));
  }
}

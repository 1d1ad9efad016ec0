/** The bare driver. With several tenants at once it is time-slicing, not a baseline. */
import type { Description } from '../../../workers/description.js';
import { isInstance } from '../../../results/cards.js';
import {
  bareDriver,
  deviceSeen,
  measuredDevice,
  memoryView,
  noMpsClient,
  type SeenDevice,
} from '../../proof/attestation.js';
import type { Finding } from '../../proof/proof-finding.js';
import { judge } from '../../proof/judgement.js';
import { Profile, type ProfileOptions } from '../../profile.js';
import { type Attestation, type Evidence, NO_LIMITS, type Tenant } from '../../system.js';

export class NativeSystem extends Profile {
  readonly kind: string = 'native';
  readonly isBare = true;
  readonly capabilities = NO_LIMITS;

  /** `recordedIn`: see System. */
  constructor(
    options: ProfileOptions,
    readonly recordedIn?: string,
  ) {
    super(options);
  }

  async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const { gpu } = this.prepared.run;
    const look = this.look(evidence);
    const device = measuredDevice(description, gpu);
    return judge(description, look, null, [
      ...bareDriver(description),
      deviceSeen(device, gpu),
      noMpsClient(device),
      noMig(device),
      memoryView(device, look.probe, gpu, null),
    ]);
  }

  protected variables(_tenant: Tenant): Record<string, string> {
    return {};
  }
}

/** An instance that is named as the GPU is what is to be measured, whatever the driver says of its mode. */
function noMig(device: SeenDevice): Finding {
  const isNamed = device !== undefined && isInstance(device.uuid);
  return {
    proof: 'MIG mode',
    passed: device === undefined ? null : isNamed || device.migMode !== 'enabled',
    detail: isNamed ? 'an instance, which was named' : (device?.migMode ?? 'the worker does not see the GPU'),
    advice: 'Select a GPU that is not in MIG mode: an instance is not the bare card.',
  };
}

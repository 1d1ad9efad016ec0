/** Clean-up that must not cost what was measured. */
import { messageOf } from '../errors/message-of.js';
import type { System, Tenant } from './system.js';

/**
 * Why a tenant's state could not be removed, or null. It is no reason to lose a result or another tenant's clean-up: what
 * state that stays does to the next worker is what attestation looks for.
 */
export async function reapFailure(system: System, tenant: Tenant): Promise<string | null> {
  try {
    await system.reap(tenant);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Clean-up whose failure must not cost results. */
import { messageOf } from '../../errors/message-of.js';
import type { System, Tenant } from '../system.js';

/**
 * Why a tenant's state could not be removed, or null. Results and other tenants' clean-up are kept; attestation detects
 * whether remaining state affects the next worker.
 */
export async function reapFailure(system: System, tenant: Tenant): Promise<string | null> {
  try {
    await system.reap(tenant);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Refuses a comparison that would lack a system. */
import { UsageError } from '../../errors/usage-error.js';
import type { CompareRequest } from '../compare-request.js';

/** Throws UsageError if the comparison would lack one of the requested systems. */
export function refuseUnavailable({
  systems,
  allowMissing = false,
}: Pick<CompareRequest, 'systems' | 'allowMissing'>): void {
  const missing = systems.filter(({ unavailable }) => unavailable !== null);
  if (allowMissing || missing.length === 0) return;
  const reasons = missing.map(({ name, unavailable }) => `${name}: ${unavailable}`).join('; ');
  throw new UsageError(
    `Not every system can be measured here (${reasons}). Provide what is missing, or measure the others with --allow-missing.`,
  );
}

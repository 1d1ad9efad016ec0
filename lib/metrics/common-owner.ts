/** Whose function the processes of one system called: all of them are under the same layer, or their numbers are nobody's. */
import { BenchError } from '../native/errors.js';

/** Throws BenchError with code INVALID_RESULT where processes differ. */
export function commonOwner(owners: readonly (string | null)[]): string | null {
  const [owner = null, ...others] = new Set(owners);
  if (others.length === 0) return owner;
  const names = [owner, ...others].map((path) => path ?? 'nobody');
  throw new BenchError('INVALID_RESULT', `layer not active: processes are under ${names.join(' and ')}.`);
}

/** `--allow-missing` and `--keep-going`. */
import type { Tolerance } from '../../api/comparison.js';
import type { System } from '../../systems/system.js';
import { warn } from '../terminal/talk.js';

export interface RawTolerance {
  allowMissing?: true;
  keepGoing?: true;
}

export const toleranceOf = (raw: RawTolerance): Tolerance => ({
  allowMissing: raw.allowMissing === true,
  keepGoing: raw.keepGoing === true,
});

/** Reports unavailable systems with --allow-missing; without it they are refused. */
export function sayUnavailable(systems: readonly System[]): void {
  for (const { name, unavailable } of systems)
    if (unavailable !== null) warn(`${name} cannot be measured here and would be kept as unsupported: ${unavailable}`);
}

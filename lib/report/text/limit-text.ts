/** Text of the check whether a compute limit has an effect, shared by all formats. */
import { isExceeded } from '../../results/limit-tolerance.js';
import { plain } from '../../results/text/plain.js';
import { digits } from '../../results/text/quantity.js';
import type { View } from '../../results/view.js';

type ComputeLimit = View['computeLimits'][number];

/** States a finding. `throttled` alone would be read as "held", so a limit that is exceeded is named. */
export const limitFinding = ({ label, limitPercent, achievedPercent }: ComputeLimit): string =>
  label === 'throttled' && achievedPercent !== null && isExceeded(achievedPercent, limitPercent)
    ? 'throttled, but above the limit'
    : label;

export function limitText(limit: ComputeLimit): string {
  const { system, limitPercent, achievedPercent, detail } = limit;
  const busy = achievedPercent === null ? '' : ` (busy ${digits(achievedPercent)} % of the time)`;
  return plain(`${system}, ${limitPercent} %: ${limitFinding(limit)}${busy}; ${detail}`);
}

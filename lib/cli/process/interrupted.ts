/** The message about an interrupted comparison: how many rounds are finished, and the command that continues it. */
import { dirname } from 'node:path';
import { resumeCommand } from '../../results/text/command-line.js';
import type { ComparisonDocument } from '../../results/document.js';
import { formats } from '../../report/formats.js';
import type { RawGating } from '../comparing/gating.js';
import type { RawOutputs } from '../options/document-outputs.js';

/** Options that --resume accepts again: where results go, and what judges them. */
const givenAgain = ['baseline', 'gate', 'store', ...formats, 'format'] as const;

export type Continued = RawGating & RawOutputs;

/** `secrets`: settings that were not recorded; a comparison with one cannot be continued. */
export function interruptedText(
  { plan, systems, stopped }: ComparisonDocument,
  raw: Continued,
  secrets: readonly string[],
  command: 'compare' | 'exec' = 'compare',
): string {
  const finished = systems.flat().filter(({ completed }) => completed).length;
  const far = `${stopped === undefined ? 'Interrupted' : 'Stopped'}: ${finished} of ${plan.rounds * plan.systems.length} rounds${plan.detect?.isPilot ? ' of the pilot' : ''} are finished.`;
  if (plan.config === undefined) return `${far} There is nothing to continue.`;
  if (secrets.length > 0) return `${far} It cannot be continued: ${secrets.join(', ')} is secret and not recorded.`;
  const options = givenAgain.flatMap((name) => (raw[name] === undefined ? [] : [`--${name}`, raw[name]]));
  // Without it, a comparison of which nothing is left would stop again.
  if (stopped !== undefined) options.push('--keep-going');
  return `${far} Continue with: ${resumeCommand(dirname(plan.config), options, command)}`;
}

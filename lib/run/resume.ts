/** Whether finished rounds may stand beside new ones: the same GPU and driver, and asked for in the same way. */
import type { RunDocument } from '../document.js';
import { shown } from '../errors/shown.js';
import { UsageError } from '../errors/usage-error.js';

export type Circumstances = Pick<RunDocument, 'gpu' | 'driver' | 'plan'>;

/** What decides a number beside the metric itself; a time limit or the keeping of samples does not. */
const deciding = ['iterations', 'warmup', 'resolution', 'strict'] as const;

/** How it was asked for, whatever the metrics. */
export function manner({ tier, path, options }: RunDocument['plan']): string {
  const given = deciding
    .filter((name) => options[name] !== undefined && options[name] !== false)
    .map((name) => `${name} ${shown(options[name])}`);
  return [`tier ${tier}`, `path ${path}`, ...given].join(', ');
}

const planText = (plan: RunDocument['plan']): string => [manner(plan), ...[...plan.metrics].sort()].join(', ');

const facts: readonly [what: string, of: (circumstances: Circumstances) => string][] = [
  ['GPU', ({ gpu }) => gpu.map(({ name, simulated }) => `${simulated ? 'simulated' : 'real'} ${name}`).join(', ')],
  ['driver', ({ driver }) => driver.version ?? 'unknown'],
  ['plan', ({ plan }) => planText(plan)],
];

/** Throws UsageError at the first difference; the UUID may differ, so that a run can move to the next card of a node. */
export function checkResumable(finished: readonly RunDocument[], now: Circumstances): void {
  for (const document of finished)
    for (const [what, of] of facts) {
      if (of(document) === of(now)) continue;
      throw new UsageError(
        `Expected --resume to be a run with the ${what} of this one (${of(now)}) but received one with another (${of(document)}): go on where it was measured, or begin anew with --output.`,
      );
    }
}

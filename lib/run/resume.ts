/** Whether finished rounds may be reused with new ones: same card, same driver, same request. */
import type { RunDocument } from '../results/document.js';
import { shown } from '../errors/shown.js';
import { programsOf, programsText } from '../results/recorded-programs.js';
import { UsageError } from '../errors/usage-error.js';
import { processesText } from './plan/processes-per-round.js';
import { isOfOneRun } from '../systems/process/run-directory.js';

export type Circumstances = Pick<RunDocument, 'gpu' | 'driver' | 'plan'>;

/** Options that affect the numbers; a time limit or keeping samples does not. */
const deciding = ['iterations', 'warmup', 'resolution', 'strict', 'workload', 'model'] as const;

/** The settings of a plan, without its metrics and programs. */
export function measuringOptions({ tier, path, options }: RunDocument['plan']): string {
  const given = deciding
    .filter((name) => options[name] !== undefined && options[name] !== false)
    .map((name) => `${name} ${shown(options[name])}`);
  return [`tier ${tier}`, `path ${path}`, ...given].join(', ');
}

/** The settings of a plan, without its metrics. */
export function manner(plan: RunDocument['plan']): string {
  const programs = programsOf(plan);
  return [measuringOptions(plan), ...(programs ? [`programs ${programsText(programs)}`] : [])].join(', ');
}

function planText(plan: RunDocument['plan']): string {
  const processes = processesText(plan.processes);
  return [manner(plan), ...[...plan.metrics].sort(), ...(processes ? [`processes per round ${processes}`] : [])].join(
    ', ',
  );
}

const facts: readonly [what: string, of: (circumstances: Circumstances) => string][] = [
  [
    'GPU',
    ({ gpu }) =>
      gpu.map(({ name, uuid, simulated }) => `${simulated ? 'simulated' : 'real'} ${name}, ${uuid}`).join(', '),
  ],
  ['driver', ({ driver }) => driver.version ?? 'unknown'],
  ['plan', ({ plan }) => planText(plan)],
];

/**
 * Compares finished rounds with the request. Throws UsageError at the first difference: rounds on different cards must
 * not be compared.
 */
export function checkResumable(finished: readonly RunDocument[], now: Circumstances, hasOwnGpu = false): void {
  for (const document of finished)
    for (const [what, of] of facts) {
      // The settings of a system that picks its GPU name it, and are compared too; rounds on several cards are compared within them.
      if (of(document) === of(now) || (hasOwnGpu && what === 'GPU')) continue;
      throw new UsageError(
        `Expected --resume to be a run with the same ${what} as this one (${of(now)}) but received one with ${of(document)}: continue where it was measured, or start again with --output.`,
      );
    }
}

type SystemHead = Pick<RunDocument['system'], 'kind' | 'spec' | 'settings'>;

/** Describes a system without the paths in a run's directory, which differ between sessions. */
const headText = ({ kind, spec, settings }: SystemHead): string =>
  JSON.stringify([
    kind,
    spec,
    Object.entries(settings)
      .filter(([, value]) => !isOfOneRun(value))
      .sort(),
  ]);

/**
 * Compares the settings of a system. Throws UsageError if a round was measured on a system of that name with other
 * settings.
 */
export function checkSameSystem(finished: readonly RunDocument[], now: SystemHead & { name: string }): void {
  const other = finished.find(({ system }) => headText(system) !== headText(now));
  if (!other) return;
  throw new UsageError(
    `Expected --resume to be a run with the same set-up of ${now.name} as now (${headText(now)}) but received one with ${headText(other.system)}: restore its settings, or start again with --output.`,
  );
}

/** Compares the build of a system, which some show only once a worker has loaded it, e.g. through a prefix. */
export function checkSameBuild(finished: readonly RunDocument[], { system }: RunDocument): void {
  const build = system.layer?.sha256 ?? null;
  const builds = finished.map((round) => round.system.layer?.sha256 ?? null);
  const other = builds.find((each) => each !== null && build !== null && each !== build);
  if (other === undefined) return;
  throw new UsageError(
    `The layer of ${system.name} differs from the build measured before --resume (SHA-256 ${build?.slice(0, 12)}… against ${other?.slice(0, 12)}…): restore it, or start again with --output.`,
  );
}

/** The command that measures what is not known, for the systems of a document. */
import { isEnvironment } from '../results/recorded-kind.js';
import { commandLine } from '../results/text/command-line.js';
import { isComparison, isSimulated, type ResultDocument } from '../results/kinds.js';
import { specOf } from '../results/text/system-spec.js';
import type { SystemView, View } from '../results/view.js';

/** Stands for a file of systems that the reader must name, where a document does not hold their settings. */
const OWN_FILE = 'systems.yaml';

/** Null before a system's first round, which alone says how it is set up. */
function systemOptions({ document, systems }: View): string[] | null {
  const config = isComparison(document) ? document.plan.config : undefined;
  if (config !== undefined) return ['--config', config];
  if (systems.some(({ rounds }) => rounds.length === 0)) return null;
  const specs = systems.map(specOf);
  return specs.includes(null) ? ['--config', OWN_FILE] : specs.flatMap((spec) => ['--system', spec ?? '']);
}

const isOfEnvironment = ({ rounds }: SystemView): boolean => isEnvironment(rounds[0]);

const simulateOf = (document: ResultDocument): string[] => (isSimulated(document) ? ['--simulate'] : []);

/** The command that measures the document's programs again; null if the file of their settings is not known. */
export function programsCommand({ document }: View, rounds: number): string | null {
  const config = isComparison(document) ? document.plan.config : undefined;
  if (config === undefined) return null;
  return commandLine(['exec', '--config', config, '--rounds', String(rounds), ...simulateOf(document)]);
}

/**
 * The command that measures these metrics; null if the systems are not known. `rounds` is null for the standard number. A
 * system that `run` measured was the caller's environment.
 */
export function measuringCommand(view: View, metrics: readonly string[], rounds: number | null = null): string | null {
  const simulate = simulateOf(view.document);
  if (view.systems.every(isOfEnvironment)) return commandLine(['run', ...metrics, ...simulate]);
  const often = rounds === null ? [] : ['--rounds', String(rounds)];
  const named = systemOptions(view);
  return named && commandLine(['compare', ...metrics, ...named, ...often, ...simulate]);
}

/** The commands that repeat a measurement. */
import { isEnvironment } from '../../results/recorded-kind.js';
import { dirname } from 'node:path';
import { type ComparisonDocument, NOT_RECORDED, type RunDocument } from '../../results/document.js';
import { isOfProgram } from '../../metrics/core/stored-definitions.js';
import { grouped } from '../../results/text/grouped.js';
import { plain } from '../../results/text/plain.js';
import { byMetricId } from '../../results/metric-order.js';
import { isComparison } from '../../results/kinds.js';
import { isOfPrograms, type Part, partsOf, programsWithSecrets } from '../../results/recorded-programs.js';
import { specOf } from '../../results/text/system-spec.js';
import type { SystemView, View } from '../../results/view.js';
import { commandLine, resumeCommand, shellQuoted } from '../../results/text/command-line.js';

/**
 * Commands that repeat the measurement: one line, or one each for metrics, programs and systems that `run` measured.
 * Empty if no command can express it.
 */
export function reproduction(view: View): string {
  const { document, systems } = view;
  if (!isCompared(document)) return runLines(view, systems);
  const compared = systems.filter((system) => !isOfEnvironment(system));
  const parts = partsOf(compared.map(({ rounds }) => rounds));
  const lines =
    parts.length > 1
      ? parts.map((part) => compareLine(view, planOf(document, part), compared.map(roundsIn(part))))
      : [compareLine(view, document.plan, compared)];
  return [...lines, runLines(view, systems.filter(isOfEnvironment))].filter((line) => line !== '').join('\n');
}

/** Whether a document has the plan of a comparison. Documents merged from `run` have a plan without an order. */
const isCompared = (document: View['document']): document is ComparisonDocument =>
  isComparison(document) && document.plan.order.length > 0;

/** Whether `run` measured the system, in a document merged from both commands. */
const isOfEnvironment = ({ rounds }: SystemView): boolean => isEnvironment(rounds[0]);

type Plan = ComparisonDocument['plan'];

/** The plan of one part of a merged document. */
function planOf({ plan }: ComparisonDocument, { ofPrograms, systems }: Part): Plan {
  const metrics = plan.metrics.filter((id) => isOfProgram(id) === ofPrograms);
  const tier = systems.flat()[0]?.plan.tier ?? plan.tier;
  return { ...plan, metrics, tier, rounds: Math.max(...systems.map(({ length }) => length)) };
}

const roundsIn =
  ({ systems }: Part) =>
  (system: SystemView, index: number): SystemView => ({ ...system, rounds: systems[index] ?? [] });

function compareLine({ simulated }: View, plan: Plan, systems: readonly SystemView[]): string {
  const named = systemOptions(plan.config, systems);
  const [round] = systems.flatMap(({ rounds }) => rounds);
  const ofPrograms = round !== undefined && isOfPrograms(round);
  // Programs are only in the file.
  if (named === null || (ofPrograms && plan.config === undefined)) return '';
  return commandLine([
    ...(ofPrograms ? ['exec'] : ['compare', ...[...plan.metrics].sort(byMetricId)]),
    ...named,
    '--rounds',
    String(plan.rounds),
    '--tier',
    plan.tier,
    '--seed',
    String(plan.seed),
    ...(round ? optionsText(round) : []),
    ...(systems.some(wasMissing) ? ['--allow-missing'] : []),
    ...(simulated ? ['--simulate'] : []),
  ]);
}

/** Options that name the systems; null if one has settings that neither a file nor the document holds. */
function systemOptions(config: string | undefined, systems: readonly SystemView[]): string[] | null {
  if (config !== undefined) return ['--config', config];
  const specs = systems.map(specOf);
  return specs.includes(null) ? null : specs.flatMap((spec) => ['--system', spec ?? '']);
}

/** Whether the system was unavailable, which a comparison refuses without --allow-missing. */
const wasMissing = ({ rounds }: SystemView): boolean =>
  rounds.some(
    ({ metrics, provenance }) => provenance.length === 0 && metrics.every(({ status }) => status === 'unsupported'),
  );

/** Whether `load` measured the system: its metrics are of a program that it did not start. */
const isOfLoad = ({ rounds: [round] }: SystemView): boolean =>
  round !== undefined && round.plan.metrics.length > 0 && round.plan.metrics.every(isOfProgram) && !isOfPrograms(round);

/** The first of the runs that measured the same metrics: merged documents may have measured others. */
const firstOfEach = (rounds: readonly RunDocument[]): RunDocument[] =>
  [...grouped(rounds, ({ plan }) => [...plan.metrics].sort(byMetricId).join()).values()].flatMap((same) =>
    same.slice(0, 1),
  );

const runLines = ({ simulated }: View, systems: readonly SystemView[]): string =>
  systems
    .filter((system) => !isOfLoad(system))
    .flatMap(({ rounds }) => firstOfEach(rounds))
    .map((round) => runLine(round, simulated ? ['--simulate'] : []))
    .join('\n');

/** The command in the caller's environment, as far as it is recorded. */
function runLine({ plan, gpu, system }: RunDocument, simulate: readonly string[]): string {
  const settings = isEnvironment({ system }) ? Object.entries(system.settings) : [];
  const variables = settings.map(([name, value]) => `${plain(name).replace(/\W/g, '_')}=${shellQuoted(value)}`);
  const argv = ['run', ...[...plan.metrics].sort(byMetricId), '--tier', plan.tier, '--seed', String(plan.seed)];
  return [...variables, commandLine([...argv, ...optionsText({ plan, gpu }), ...simulate])].join(' ');
}

/** Notes before the command: how to continue an interrupted comparison, and what the document does not hold. */
export function toFillIn({ document, systems }: View): string[] {
  const loaded = systems
    .filter(isOfLoad)
    .map(({ name }) =>
      plain(`No command can be given for ${name}, because this document does not contain the requests of its load.`),
    );
  if (!isCompared(document)) return loaded;
  const { config } = document.plan;
  const unknown =
    config === undefined ? systems.filter((system) => !isOfEnvironment(system) && specOf(system) === null) : [];
  const rounds = systems.flatMap((system) => system.rounds);
  const secret = [
    ...systems.filter(hasSecret).map(({ name }) => name),
    ...new Set(rounds.flatMap(({ plan }) => programsWithSecrets(plan))),
  ];
  const isMerged = rounds.some(({ session }) => session !== undefined);
  return [
    ...(document.completed || isMerged || config === undefined || secret.length > 0
      ? []
      : [
          `The comparison was interrupted. This continues it: ${resumeCommand(dirname(config), [], commandOf(systems))}`,
        ]),
    ...unknown.map(({ name }) =>
      plain(
        `No command can be given, because this document does not contain the settings of ${name}. The variables that they set are listed under Environment, Variables of ${name}.`,
      ),
    ),
    ...secret.map((name) =>
      plain(
        `Replace every ${NOT_RECORDED} of ${name}${config === undefined ? '' : ` in ${config}`}: results keep no secrets.`,
      ),
    ),
  ];
}

/** The command that measured them. */
const commandOf = (systems: readonly SystemView[]): 'compare' | 'exec' =>
  systems.some(({ rounds }) => rounds.some(isOfPrograms)) ? 'exec' : 'compare';

const hasSecret = ({ rounds }: SystemView): boolean =>
  rounds.some(({ system }) =>
    [system.spec ?? '', ...Object.values(system.settings)].some((text) => text.includes(NOT_RECORDED)),
  );

const isSizes = (model: unknown): model is Record<string, number> =>
  typeof model === 'object' &&
  model !== null &&
  Object.entries(model).every(([name, size]) => /^\w+$/.test(name) && typeof size === 'number');
const sizesText = (model: Record<string, number>): string =>
  Object.entries(model)
    .map(([name, size]) => `${name}=${size}`)
    .join(',');

/** The GPUs of a list; otherwise the measured one, if it is not the first. */
function deviceText(device: number, gpus: RunDocument['gpu']): string[] {
  if (gpus.length > 1) return ['--device', gpus.map(({ index }) => index).join(',')];
  return device === 0 ? [] : ['--device', String(device)];
}

function optionsText({ plan: { path, device, options }, gpu }: Pick<RunDocument, 'gpu' | 'plan'>): string[] {
  const number = (name: string) => (typeof options[name] === 'number' ? [`--${name}`, String(options[name])] : []);
  return [
    ...(path === 'runtime' ? [] : ['--path', path]),
    ...deviceText(device, gpu),
    ...['iterations', 'warmup', 'resolution'].flatMap(number),
    ...(typeof options.workload === 'string' ? ['--workload', options.workload] : []),
    ...(isSizes(options.model) ? ['--model', sizesText(options.model)] : []),
    ...['samples', 'strict'].flatMap((name) => (options[name] === true ? [`--${name}`] : [])),
  ];
}

/** The commands that measure the same again. */
import { NOT_RECORDED, type RunDocument } from '../document.js';
import { nameOfLabel } from '../systems/system-name.js';
import { plain } from './plain.js';
import { isComparison, type SystemView, type View } from './view.js';

/** What a POSIX shell takes as it is. */
const bare = /^[\w@%+=:,./-]+$/;

/** A control character of a hostile name is not repeated. */
function shellQuoted(text: string): string {
  const line = plain(text);
  return bare.test(line) ? line : `'${line.replaceAll("'", `'\\''`)}'`;
}

/** One line; of systems that were measured apart one each. */
export function reproduction({ document, systems, simulated }: View): string {
  const simulate = simulated ? ['--simulate'] : [];
  if (!isComparison(document) || document.plan.order.length === 0)
    return systems
      .flatMap(({ rounds }) => rounds.slice(0, 1))
      .map((round) => runLine(round, simulate))
      .join('\n');
  const { plan } = document;
  const [round] = systems.flatMap(({ rounds }) => rounds);
  const argv = [
    ...['npx', 'gpu-virt-bench', 'compare', ...[...plan.metrics].sort()],
    ...systems.flatMap((system) => ['--system', specText(system)]),
    ...['--rounds', String(plan.rounds), '--tier', plan.tier, '--seed', String(plan.seed)],
    ...(round ? optionsText(round.plan) : []),
    ...simulate,
  ];
  return argv.map(shellQuoted).join(' ');
}

/** In the environment as it was found, as far as it is recorded. */
function runLine({ plan, system }: RunDocument, simulate: readonly string[]): string {
  const settings = system.kind === 'environment' ? Object.entries(system.settings) : [];
  const variables = settings.map(([name, value]) => `${plain(name).replace(/\W/g, '_')}=${shellQuoted(value)}`);
  const argv = [
    ...['npx', 'gpu-virt-bench', 'run', ...[...plan.metrics].sort(), '--tier', plan.tier, '--seed', String(plan.seed)],
    ...optionsText(plan),
    ...simulate,
  ];
  return [...variables, ...argv.map(shellQuoted)].join(' ');
}

/** Stands where settings are not known, and is refused until they stand there. */
const SETTINGS = 'SETTINGS';

const systemOf = ({ rounds }: SystemView): Partial<RunDocument['system']> =>
  rounds.find(({ system }) => system.spec !== undefined)?.system ?? rounds[0]?.system ?? {};

function specText(view: SystemView): string {
  const { kind = 'custom', spec } = systemOf(view);
  const name = nameOfLabel(view.name);
  if (spec !== undefined) return spec;
  if (name === kind) return kind === 'native' ? kind : `${kind}:${SETTINGS}`;
  return `${kind}:name=${name.replaceAll(',', '\\,')},${SETTINGS}`;
}

/** Settings that a file alone could say, or an earlier version did not record, and secrets. */
export function toFillIn({ document, systems }: View): string[] {
  if (!isComparison(document) || document.plan.order.length === 0) return [];
  return systems.flatMap((view) => {
    const spec = specText(view);
    if (spec.includes(NOT_RECORDED))
      return [plain(`Replace every ${NOT_RECORDED} of ${view.name}: a document keeps no secrets.`)];
    if (systemOf(view).spec !== undefined || !spec.endsWith(SETTINGS)) return [];
    return [
      plain(
        `Replace ${SETTINGS} of ${view.name} by its settings, as key=value with commas between, or its --system by --config and the file that has them: this document has only what they came to, under Environment, Variables of ${view.name}.`,
      ),
    ];
  });
}

function optionsText({ path, device, options }: RunDocument['plan']): string[] {
  const number = (name: string) => (typeof options[name] === 'number' ? [`--${name}`, String(options[name])] : []);
  return [
    ...(path === 'runtime' ? [] : ['--path', path]),
    ...(device === 0 ? [] : ['--device', String(device)]),
    ...['iterations', 'warmup', 'resolution'].flatMap(number),
    ...['samples', 'strict'].flatMap((name) => (options[name] === true ? [`--${name}`] : [])),
  ];
}

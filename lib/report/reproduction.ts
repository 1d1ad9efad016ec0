/** The command that measures the same again. */
import type { RunDocument } from '../document.js';
import { isComparison, roundsOf, type View } from './view.js';

/** What a POSIX shell takes as it is. */
const bare = /^[\w@%+=:,./-]+$/;

const shellQuoted = (text: string): string => (bare.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export function reproduction({ document, systems, simulated }: View): string {
  const [round] = roundsOf(document);
  const { plan } = document;
  const argv = [
    ...['npx', 'gpu-virt-bench', isComparison(document) ? 'compare' : 'run', ...[...plan.metrics].sort()],
    ...(isComparison(document) ? systems.flatMap(({ name, rounds }) => ['--system', specText(name, rounds[0])]) : []),
    ...(isComparison(document) ? ['--rounds', String(plan.rounds)] : []),
    ...['--tier', plan.tier, '--seed', String(plan.seed)],
    ...(round ? optionsText(round.plan) : []),
    ...(simulated ? ['--simulate'] : []),
  ];
  return argv.map(shellQuoted).join(' ');
}

/** What only a configuration file says is left out visibly. */
function specText(name: string, round: RunDocument | undefined): string {
  const { kind = '', spec } = round?.system ?? {};
  if (spec !== undefined) return spec;
  return kind === 'native' && name === kind ? kind : `${kind}:name=${name},…`;
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

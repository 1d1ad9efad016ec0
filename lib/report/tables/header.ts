/** What was measured, on what, and when. */
import { isEnvironment, isNative } from '../../results/recorded-kind.js';
import { mean, sum } from 'simple-statistics';
import type { GpuInfo, RunDocument } from '../../results/document.js';
import { cudaVersion } from '../../results/text/cuda-version.js';
import { bytes, duration, number, plain } from '../../results/text/plain.js';
import { isComparison, roundsOf } from '../../results/kinds.js';
import type { SystemView, View } from '../../results/view.js';
import { partsOf, programsOf, type RecordedProgram } from '../../results/recorded-programs.js';
import { shellQuoted } from '../../results/text/command-line.js';
import { priceFacts } from './ranking.js';
import type { Fact } from '../text/fact.js';

const distinct = (values: readonly string[]): string[] => [...new Set(values)];
const unique = (values: readonly string[]): string => distinct(values).join(', ') || 'unknown';

export function headerFacts(view: View): Fact[] {
  const rounds = roundsOf(view.document);
  const { startedAt, durationMs, tool } = view.document;
  const of = (fact: (round: RunDocument) => string | string[]) => unique(rounds.flatMap(fact).map(plain));
  return [
    ['GPU', of(({ gpu }) => gpu.map(({ name, memoryBytes }) => `${name} (${bytes(memoryBytes)})`))],
    ['Driver', of(({ driver }) => driver.version ?? 'unknown')],
    ['CUDA', of(({ driver }) => cudaVersion(driver.cudaVersion))],
    ['Host', of(({ host }) => `${host.cpu}, ${host.usableCores} of ${host.cores} cores, ${host.kernel}`)],
    ...view.systems.map((system): Fact => [system.isBaseline ? 'Baseline' : 'System', systemText(system)]),
    ...programFacts(rounds),
    ...priceFacts(view),
    ['Tier', of(({ plan }) => plan.tier)],
    ['Rounds', roundsText(view)],
    ['Started', startedAt],
    ['Duration', duration(durationMs / 1_000)],
    ['Tool', plain(`${tool.name} ${tool.version}`)],
  ];
}

const MOST_PROGRAMS = 20;

/** Facts for `exec`: `decode: python decode.py, 3 + 10 runs a round, git 0123456789ab`. */
function programFacts(rounds: readonly RunDocument[]): Fact[] {
  const all = rounds.flatMap(({ plan }) => programsOf(plan) ?? []);
  const texts = distinct(all.map(programText));
  const shown = texts.slice(0, MOST_PROGRAMS).map((text): Fact => ['Program', plain(text)]);
  const more = texts.length - shown.length;
  return more > 0 ? [...shown, ['Programs', `${more} more`]] : shown;
}

function programText({ name, argv, warmup, iterations, git, tenants }: RecordedProgram): string {
  const commit = git === null ? '' : `, git ${git.commit.slice(0, 12)}${git.hasChanges ? ' with changes' : ''}`;
  return `${name}: ${tenants ? tenants.map(tenantText).join(' beside ') : commandText(argv)}, ${warmup} + ${iterations} runs a round${commit}`;
}

const commandText = (argv: readonly string[]): string => argv.map(shellQuoted).join(' ');

const tenantText = ({ name, argv, task }: NonNullable<RecordedProgram['tenants']>[number]): string =>
  `${name} (${argv ? commandText(argv) : task === name ? 'built-in' : `built-in ${task}`})`;

const countsText = (systems: readonly (readonly RunDocument[])[]): string =>
  distinct(systems.map((rounds) => String(rounds.length))).join(', ') || '0';

function roundsText({ document, systems }: View): string {
  const rounds = systems.map((system) => system.rounds);
  const parts = partsOf(rounds);
  if (parts.length > 1)
    return parts.map((part) => `${countsText(part.systems)} of ${part.ofPrograms ? 'programs' : 'metrics'}`).join(', ');
  const planned = isComparison(document) ? document.plan.rounds : 1;
  const measured = countsText(rounds);
  return measured === String(planned) ? measured : `${measured} of ${planned}`;
}

/** Describes a system by its limits, and its layer's file and hash, from its first round. */
function systemText({ name, rounds }: SystemView): string {
  const [first] = rounds;
  if (!first) return plain(`${name}: no round was measured`);
  const { kind, spec, layer } = first.system;
  const unchecked = rounds.filter(({ system }) => system.notCheckedAfter !== undefined).length;
  const parts = [
    (spec ?? kind) === name ? undefined : (spec ?? kind),
    layer &&
      `layer ${layer.path}, SHA-256 ${layer.sha256 ?? 'unknown'}, ${layer.exports} cu* exports, ${layer.active ? 'active' : 'INACTIVE'}`,
    unchecked > 0 ? `not checked after measuring in ${unchecked} of ${rounds.length} rounds` : undefined,
    processesText(rounds),
  ];
  const text = parts.filter((part) => part !== undefined).join('; ');
  const confirmation = confirmationText(rounds);
  const head = confirmation === null ? `${name}:` : `${name} ${confirmation};`;
  return plain(text === '' ? head.slice(0, -1) : `${head} ${text}`);
}

/** Says how many proofs passed in the round in which most failed, since all must pass; null if there are none. */
function confirmationText(rounds: readonly RunDocument[]): string | null {
  const counts = rounds.map(({ system: { attestation } }) => ({
    passed: attestation.filter((proof) => proof.passed).length,
    of: attestation.length,
  }));
  const [worst] = counts.filter(({ of }) => of > 0).sort((a, b) => b.of - b.passed - (a.of - a.passed));
  if (!worst) return null;
  const checks = `${worst.passed} of ${worst.of} checks`;
  if (worst.passed < worst.of) return `NOT confirmed: only ${checks} passed`;
  // The caller's environment is only described, and what is unverified is not known to be active.
  if (isEnvironment(rounds[0]) || rounds.some(({ system }) => system.verified === false)) return `passed ${checks}`;
  const active = rounds[0]?.system.layer ? 'layer active' : 'active';
  return `confirmed: ${isNative(rounds[0]) ? 'no layer active' : active} (${checks})`;
}

/** Counts confirmed processes over all rounds that record them; the first documents of the schema do not. */
function processesText(rounds: readonly RunDocument[]): string | undefined {
  const counts = rounds.flatMap(({ system }) => system.processes ?? []);
  const of = sum(counts.map((each) => each.of));
  return of === 0 ? undefined : `confirmed in ${sum(counts.map(({ proven }) => proven))} of ${of} processes`;
}

export function environmentFacts(view: View): Fact[] {
  const rounds = roundsOf(view.document);
  const of = (fact: (round: RunDocument) => string | string[]) => unique(rounds.flatMap(fact).map(plain));
  return [
    ['GPU UUID', of(({ gpu }) => gpu.map(({ uuid }) => uuid))],
    [
      'Compute capability',
      of(({ gpu }) => gpu.map((each) => `${each.computeCapability}, ${each.multiprocessors} SMs${clockText(each)}`)),
    ],
    ['Persistence mode', of(({ gpu }) => gpu.map(({ persistenceMode }) => stateText(persistenceMode)))],
    ['Compute mode', of(({ gpu }) => gpu.map(({ computeMode }) => computeMode ?? 'unknown'))],
    ['MIG', of(({ gpu }) => gpu.map(({ migMode }) => migMode))],
    ['libcuda', of(({ driver }) => driver.libcuda ?? 'unknown')],
    ['Symbol path', of(({ plan }) => plan.path)],
    [
      'Platform',
      of(({ host }) => `${host.platform} ${host.arch}, Node ${host.node}${host.container ? ', container' : ''}`),
    ],
    ['Host memory', of(({ host }) => bytes(host.memoryBytes))],
    ['Ground truth', of(({ groundTruth, pidMapping }) => `${groundTruth}, PID mapping ${pidMapping}`)],
    ...view.systems.flatMap(({ name, rounds: own }): Fact[] => {
      const text = timesText(own);
      return text === '' ? [] : [[plain(`Time of ${name}`), plain(text)]];
    }),
    ...view.systems.map(({ name, rounds: own }): Fact => [plain(`Variables of ${name}`), settingsText(own[0])]),
  ];
}

/** Formats mean times by category, over the rounds that record them: `isolation 9.5 s (IS-001 4.2 s, IS-002 5.3 s)`. */
export function timesText(rounds: readonly RunDocument[]): string {
  const timed = rounds.flatMap(({ metrics }) =>
    metrics.flatMap(({ id, category, durationMs }) =>
      durationMs === undefined ? [] : [{ id, category, seconds: durationMs / 1_000 }],
    ),
  );
  const secondsOf = (wanted: string) => mean(timed.filter(({ id }) => id === wanted).map(({ seconds }) => seconds));
  return distinct(timed.map(({ category }) => category))
    .map((category) => {
      const ids = distinct(timed.filter((each) => each.category === category).map(({ id }) => id));
      const times = ids.map((id) => `${id} ${number(secondsOf(id))} s`);
      return `${category} ${number(sum(ids.map(secondsOf)))} s (${times.join(', ')})`;
    })
    .join('; ');
}

const clockText = ({ maxSmClockMhz }: GpuInfo): string =>
  maxSmClockMhz == null ? '' : ` of at most ${maxSmClockMhz} MHz`;

const stateText = (state: boolean | null): string => (state === null ? 'unknown' : state ? 'on' : 'off');

function settingsText(round: RunDocument | undefined): string {
  const pairs = Object.entries(round?.system.settings ?? {}).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? 'none' : plain(pairs.join(' '));
}

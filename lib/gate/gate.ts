/** Applies thresholds to a document, with a stored baseline if there is one, and returns the result of the gate. */
import { isNative } from '../results/recorded-kind.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import { isSimulated, type ResultDocument } from '../results/kinds.js';
import { rowsOf, viewOf } from '../results/view.js';
import { type Baseline, relabelledBaseline } from '../saved/baseline-store.js';
import { labelsOf } from '../saved/relabelled.js';
import { againstBaseline } from './against-baseline.js';
import { FEWEST_ROUNDS, MORE_ROUNDS } from './defaults.js';
import type { Case, GateDocument } from './document.js';
import { environmentOf } from './environment.js';
import { GATE_RULE, judge, judgedSystems } from './judge.js';
import { checkSystems, defaultThresholds, relabelledThresholds, type Thresholds } from './thresholds.js';

/** Throws UsageError if there is nothing to judge, so that no gate passes without checking anything. */
export function gate(
  document: ResultDocument,
  givenThresholds: Thresholds,
  givenBaseline: Baseline | null,
  metrics: readonly MetricDefinition[],
): GateDocument {
  const labels = labelsOf(document);
  const thresholds = relabelledThresholds(givenThresholds, labels);
  const baseline = givenBaseline && relabelledBaseline(givenBaseline, labels);
  checkJudgeable(document, thresholds, baseline);
  const found = judged(document, thresholds, baseline, metrics);
  if (found.cases.length === 0)
    throw new UsageError('No threshold applies to anything that was measured: give limits, or leave maxRegression on.');
  const systems = judgedSystems(viewOf(document).systems, thresholds, baseline !== null);
  checkHeld(document, systems, found.cases);
  return withUnjudged(found, systems);
}

/** Refuses a listed system to which no threshold applies: it would pass unchecked. */
function checkHeld(document: ResultDocument, systems: readonly string[], cases: readonly Case[]): void {
  const measured = rowsOf(viewOf(document)).flatMap(({ cells }) => cells.filter(({ value }) => value !== null));
  const idle = systems.find(
    (name) => !cases.some(({ system }) => system === name) && measured.some(({ system }) => system === name),
  );
  if (idle === undefined) return;
  throw new UsageError(`No threshold applies to system ${quoted(idle)}: give limits, or leave it out of systems.`);
}

/** Fails a system without any case that could be checked, because nothing shows that it meets the thresholds. */
function withUnjudged(found: GateDocument, systems: readonly string[]): GateDocument {
  const casesOf = (name: string) => found.cases.filter(({ system }) => system === name);
  const unjudged = systems.filter(
    (name) => casesOf(name).length > 0 && casesOf(name).every(({ outcome }) => outcome === 'not measured'),
  );
  if (unjudged.length === 0) return found;
  const cases = found.cases.map((each): Case => {
    return unjudged.includes(each.system) ? { ...each, countsAs: 'failed' } : each;
  });
  const why = (name: string) => [...new Set(casesOf(name).map(({ reason }) => reason))].join('; ');
  const warnings = unjudged.map(
    (name) =>
      `No metric of ${name} was checked, so the gate fails: ${why(name)}. Make it measurable, or list only the other systems under systems in the thresholds.`,
  );
  return { ...found, passed: false, cases, warnings: [...found.warnings, ...warnings] };
}

/**
 * The gate of a report about any finished measurement: checks every measured metric against the defaults, if there is
 * something to compare it with.
 */
export function gateOfReport(document: ResultDocument, metrics: readonly MetricDefinition[]): GateDocument {
  const defaults = defaultThresholds(metrics);
  const present = new Set(rowsOf(viewOf(document)).map(({ id }) => id));
  const named = [...defaults.metrics].map(([id, each]) => [id, { ...each, named: present.has(id) }] as const);
  const found = judged(
    document,
    { ...defaults, missing: 'pass', oneRound: 'pass', metrics: new Map(named) },
    null,
    metrics,
  );
  return { ...found, warnings: [...found.warnings, ...nothingJudged(found.cases)] };
}

function judged(
  document: ResultDocument,
  thresholds: Thresholds,
  baseline: Baseline | null,
  metrics: readonly MetricDefinition[],
): GateDocument {
  const against = baseline && againstBaseline(document, baseline, metrics);
  const stored = baseline && against && { name: baseline.name, effects: against.effects };
  const cases = judge({ document, thresholds, metrics, stored });
  return {
    schemaVersion: 3,
    kind: 'gate',
    tool: document.tool,
    startedAt: document.startedAt,
    durationMs: document.durationMs,
    simulated: isSimulated(document),
    baseline: baseline?.name ?? null,
    environments: {
      now: environmentOf(document),
      baseline: against?.environments.baseline ?? null,
    },
    rule: GATE_RULE,
    passed: cases.every(({ countsAs }) => countsAs === 'passed'),
    cases,
    effects: against?.effects ?? [],
    warnings: [
      ...(against?.warnings ?? []),
      ...(baseline ? bareDriverChanged(document, cases) : []),
      ...unknownMetrics(document, metrics),
    ],
  };
}

function checkJudgeable(document: ResultDocument, thresholds: Thresholds, baseline: Baseline | null): void {
  if (!document.completed)
    throw new UsageError(
      'Expected a document of a finished measurement but received one that was interrupted: continue it with compare --resume, or measure again.',
    );
  const systems = viewOf(document).systems.map(({ name }) => name);
  checkSystems(thresholds, systems);
  const hasLimit = [...thresholds.metrics.values()].some(({ limit }) => limit !== null);
  if (systems.length < 2 && !baseline && !hasLimit)
    throw new UsageError(
      `Expected --baseline, or limits in --config, but received neither: ${quoted(systems[0] ?? '')} is the only system, so there is nothing to compare it with.`,
    );
}

/** Checked before anything is measured: with one round no case could pass. */
export function checkRounds(rounds: number): void {
  if (rounds >= FEWEST_ROUNDS) return;
  throw new UsageError(
    `Expected at least ${FEWEST_ROUNDS} rounds for a gate but received ${rounds}, which gives no interval between processes: ${MORE_ROUNDS}.`,
  );
}

const unknownMetrics = (document: ResultDocument, metrics: readonly MetricDefinition[]): string[] =>
  rowsOf(viewOf(document))
    .filter(({ id }) => !metrics.some((metric) => metric.id === id))
    .map(({ id }) => `${id} is unknown to this version of gpu-virt-bench and is not checked.`);

const nothingJudged = (cases: readonly Case[]): string[] =>
  cases.every(({ outcome }) => outcome === 'not measured') ? ['Nothing was measured that the gate could check.'] : [];

/** Warns if native itself got worse, which no layer can cause. */
function bareDriverChanged(document: ResultDocument, cases: readonly Case[]): string[] {
  const native = viewOf(document).systems.filter(({ rounds }) => isNative(rounds[0]));
  const changed = cases.filter(
    ({ kind, outcome, system }) =>
      kind === 'regression' && outcome === 'failed' && native.some(({ name }) => name === system),
  );
  if (changed.length === 0) return [];
  return [
    `The bare driver itself is worse than in the baseline (${changed.map(({ metric }) => metric).join(', ')}): the machine itself changed. Without --baseline, the gate compares each system with native in the same rounds.`,
  ];
}

/** What a finished comparison of programs adds: labels of systems whose programs were not proven, and warnings. */
import type { ComparisonDocument, MetricResult, RunDocument } from '../../results/document.js';
import { isOfProgram } from '../../metrics/core/stored-definitions.js';
import { grouped } from '../../results/text/grouped.js';
import { findingText } from '../../results/text/health-text.js';
import { relabelled } from '../../saved/relabelled.js';
import { isUnverified, unverifiedLabel } from '../../systems/system-name.js';
import { UNDER_SYSTEM } from '../round/round-of-runs.js';
import { unequalAnswers } from './unequal-answers.js';

const ofPrograms = ({ metrics }: RunDocument): MetricResult[] => metrics.filter(({ id }) => isOfProgram(id));

/** Whether the processes behind a number could not be proven. If a proof failed, there is no number. */
const isUnproven = ({ value, checks }: MetricResult): boolean =>
  value !== null && checks.some(({ name, passed }) => name === UNDER_SYSTEM && passed === 'not checked');

/** Renames systems with unproven numbers to `NAME (unverified)`. */
export function withLabels(document: ComparisonDocument): ComparisonDocument {
  const { systems } = document.plan;
  const unproven = systems.filter(
    (name, index) =>
      !isUnverified(name) && document.systems[index]?.some((round) => ofPrograms(round).some(isUnproven)),
  );
  if (unproven.length === 0) return document;
  const labelled = relabelled(document, unproven.map(unverifiedLabel));
  const rounds = labelled.systems.map((own) =>
    own.map((round) =>
      isUnverified(round.system.name) ? { ...round, system: { ...round.system, verified: false as const } } : round,
    ),
  );
  return {
    ...labelled,
    systems: rounds,
    warnings: [...unproven.map((name) => whyUnproven(document, name)), ...labelled.warnings],
  };
}

function whyUnproven({ plan, systems }: ComparisonDocument, name: string): string {
  const rounds = systems[plan.systems.indexOf(name)] ?? [];
  const details = rounds.flatMap((round) =>
    ofPrograms(round)
      .filter(isUnproven)
      .flatMap(({ checks }) => checks.filter((check) => check.name === UNDER_SYSTEM).map(({ detail }) => detail)),
  );
  const why = (details[0] ?? '').replace(/ \(\d+ of \d+ runs\)$/, '');
  return `${name} is shown as ${unverifiedLabel(name)}: ${why}.`;
}

/** Adds failed checks of the runs as warnings: one line for each system, program and check. */
export function withWarnings(document: ComparisonDocument): ComparisonDocument {
  const lines = document.systems.flatMap((rounds) => {
    const found = new Map<string, { rounds: number; detail: string }>();
    for (const round of rounds) {
      const seen = new Set<string>();
      for (const { id, checks } of ofPrograms(round))
        for (const { name, passed, detail } of checks) {
          const key = `${round.system.name}, ${id.split('/')[0]}: ${findingText(name)}`;
          if (passed !== false || name === UNDER_SYSTEM || seen.has(key)) continue;
          seen.add(key);
          found.set(key, { rounds: (found.get(key)?.rounds ?? 0) + 1, detail });
        }
    }
    return [...found].map(([key, each]) => `${key} in ${each.rounds} of ${rounds.length} rounds (${each.detail})`);
  });
  return { ...document, warnings: [...document.warnings, ...lines, ...unequalAnswers(document), ...notesOf(document)] };
}

/** Notes on the runs: of those of a system that differ only in numbers, such as that of the run, the first. */
const notesOf = ({ systems }: ComparisonDocument): string[] =>
  systems.flatMap((rounds) => {
    const notes = rounds.flatMap((round) =>
      ofPrograms(round).flatMap(({ id, details }) =>
        (Array.isArray(details.notes) ? details.notes : []).map(
          (note) => `${round.system.name}, ${id.split('/')[0]}: ${note}`,
        ),
      ),
    );
    return [...grouped([...new Set(notes)], (note) => note.replace(/\d+/g, 'N')).values()].map(
      ([first, ...more]) => `${first}${more.length === 0 ? '' : ` (and ${more.length} more such)`}`,
    );
  });

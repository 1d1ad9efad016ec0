/** Renames the systems of a document, so that results stored before a system had proofs can be matched. */
import type { Effect, RunDocument } from '../results/document.js';
import { isComparison, type ResultDocument } from '../results/kinds.js';
import { isUnverified, labelAmong, nameOfLabel } from '../systems/system-name.js';

export const labelsOf = (document: ResultDocument): string[] =>
  isComparison(document) ? document.plan.systems : [document.system.name];

/**
 * Replaces system labels by those in `labels` for the same systems; returns the document itself if nothing changes.
 */
export function relabelled<T extends ResultDocument>(document: T, labels: readonly string[]): T;
export function relabelled(document: ResultDocument, labels: readonly string[]): ResultDocument {
  const own = labelsOf(document);
  // Two systems of one name, which only a foreign document has, stay separate.
  const isAmbiguous = (label: string) => own.filter((each) => nameOfLabel(each) === nameOfLabel(label)).length > 1;
  const label = (name: string) => (isAmbiguous(name) ? name : labelAmong(name, labels));
  if (own.every((name) => label(name) === name)) return document;
  const round = (run: RunDocument): RunDocument => ({
    ...run,
    system: { ...run.system, name: label(run.system.name) },
  });
  if (!isComparison(document)) return round(document);
  const { plan, systems, effects, pairs, cards, callEffects, programCosts, prices, rankings } = document;
  const { computeLimits, violations } = document;
  const about = <R extends { system: string }>(row: R): R => ({ ...row, system: label(row.system) });
  const both = (effect: Effect): Effect => ({ ...about(effect), baseline: label(effect.baseline) });
  return {
    ...document,
    plan: { ...plan, systems: plan.systems.map(label), order: plan.order.map((names) => names.map(label)) },
    systems: systems.map((rounds) => rounds.map(round)),
    effects: effects.map(both),
    pairs: pairs.map(both),
    ...(cards && { cards: cards.map((each) => ({ ...about(each), baseline: label(each.baseline) })) }),
    ...(callEffects && { callEffects: callEffects.map(about) }),
    ...(programCosts && { programCosts: programCosts.map(about) }),
    ...(prices && { prices: { ...prices, systems: prices.systems.map(about) } }),
    ...(rankings && { rankings: rankings.map((ranking) => ({ ...ranking, systems: ranking.systems.map(about) })) }),
    computeLimits: computeLimits.map(about),
    violations: violations.map(about),
  };
}

/** One label per system over all documents; unverified if it is so in any of them. */
export function commonLabels(documents: readonly ResultDocument[]): string[] {
  const labels = [...new Set(documents.flatMap(labelsOf))];
  const unverified = labels.filter(isUnverified).map(nameOfLabel);
  return labels.filter((label) => isUnverified(label) || !unverified.includes(label));
}

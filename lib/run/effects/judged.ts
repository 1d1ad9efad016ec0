/** Computes what a comparison concludes from its rounds, by today's rules. */
import { callEffects } from '../../metrics/core/call-effects.js';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { definitionsIn } from '../../metrics/core/stored-definitions.js';
import type { CallEffect, ComparisonDocument, Effect, RunDocument } from '../../results/document.js';
import { severalCards } from '../../results/cards.js';
import { alignedRounds } from '../../results/rounds.js';
import { isComparison, type ResultDocument } from '../../results/kinds.js';
import { effects, pairEffects } from './comparison-effects.js';

type Conclusions = Pick<ComparisonDocument, 'effects' | 'pairs' | 'callEffects' | 'cards'>;

/**
 * Computes effects from documents by system, then by round, with gaps where a system was not measured beside the
 * others.
 */
export function conclusionsOf(
  metrics: readonly MetricDefinition[],
  systems: readonly (readonly (RunDocument | undefined)[])[],
): Conclusions & { callEffects: CallEffect[] } {
  const cards = severalCards(systems);
  return {
    effects: effects(metrics, systems),
    pairs: pairEffects(metrics, systems),
    callEffects: callEffects(systems),
    ...(cards.length > 0 && { cards }),
  };
}

/** Recomputes the effects of a document, except those of metrics that this version does not know. */
export function judged(document: ComparisonDocument): ComparisonDocument {
  const known = definitionsIn(document.systems.flat());
  const unknown = (all: readonly Effect[]) => all.filter(({ metric }) => !known.some(({ id }) => id === metric));
  const found = conclusionsOf(known, alignedRounds(document.systems));
  return {
    ...document,
    effects: [...found.effects, ...unknown(document.effects)],
    pairs: [...found.pairs, ...unknown(document.pairs)],
    callEffects: found.callEffects,
    ...(found.cards && { cards: found.cards }),
  };
}

/** Applies today's rules to a document of an earlier schema version. */
export const upToDate = (document: ResultDocument): ResultDocument =>
  isComparison(document) && document.rejudgedFrom !== undefined ? judged(document) : document;

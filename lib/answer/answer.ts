/** The answer of a document: what a reader decides from, before any table. */
import type { Answer } from '../results/answer-schema.js';
import type { ComparisonDocument } from '../results/document.js';
import { isComparison, type ResultDocument } from '../results/kinds.js';
import { plain } from '../results/text/plain.js';
import { viewOf } from '../results/view.js';
import { candidatesOf } from './candidates.js';
import { cardOf } from './cards.js';
import { sharedCauses } from './causes.js';
import { decisionOf } from './decision.js';
import { evidenceOf } from './figures.js';
import { orderedAdvice, orderedCard } from './purpose-order.js';
import { recommendationsOf } from './recommendations.js';
import { unknownOf } from './unknown.js';
import { brokenBy } from './violation-causes.js';

/** Removes control characters: names and reasons come from drivers, files and environments. */
const harmless = (answer: Answer): Answer =>
  JSON.parse(
    JSON.stringify(answer, (_, value: unknown) => (typeof value === 'string' ? plain(value) : value)),
  ) as Answer;

export function answerOf(document: ResultDocument): Answer {
  const view = viewOf(document);
  const systems = candidatesOf(view).map(({ name }) => name);
  const broken = brokenBy(view.violations);
  const causes = sharedCauses(view);
  const evidence = evidenceOf(view);
  const findings = { evidence, systems, broken, causes };
  const cards = systems.map((system) => cardOf(findings, system));
  const recommendations = recommendationsOf({ evidence, systems, cards, broken });
  const baseline = view.systems.find(({ isBaseline }) => isBaseline)?.name ?? null;
  const purpose = isComparison(document) ? (document.plan.purpose ?? null) : null;
  return harmless({
    decision: decisionOf({ cards, broken, recommendations, baseline, purpose, effects: view.effects }),
    cards: cards.map((card) => orderedCard(card, purpose)),
    violations: broken,
    causes,
    recommendations: orderedAdvice(recommendations, purpose),
    unknown: unknownOf(view, cards),
  });
}

/** The document with its answer, in place of an earlier one. */
export const answered = (document: ComparisonDocument): ComparisonDocument => ({
  ...document,
  answer: answerOf(document),
});

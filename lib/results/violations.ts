/** Limits that metrics showed not to hold. They take precedence over averages, and make a run exit with 4. */
import type { ComparisonDocument, RunDocument } from './document.js';
import { isComparison, type ResultDocument } from './kinds.js';
import { partly } from './rounds.js';
import { messageKey } from './text/same-message.js';

export type Violation = ComparisonDocument['violations'][number];

/** One per system, metric and message, however many rounds show it. */
export function violationsIn(rounds: readonly RunDocument[]): Violation[] {
  const found = new Map<string, { first: Violation; rounds: number }>();
  for (const { system, metrics } of rounds)
    for (const { id, violations = [] } of metrics)
      for (const { detail } of violations) {
        const key = JSON.stringify([system.name, id, messageKey(detail)]);
        const entry = found.get(key) ?? { first: { system: system.name, metric: id, detail }, rounds: 0 };
        entry.rounds += 1;
        found.set(key, entry);
      }
  return [...found.values()].map(({ first, rounds: seen }) => {
    const often = partly(seen, rounds.filter(({ system }) => system.name === first.system).length);
    return often === null ? first : { ...first, detail: `${first.detail} (in ${often})` };
  });
}

export const violationsOf = (document: ResultDocument): Violation[] =>
  isComparison(document) ? document.violations : violationsIn([document]);

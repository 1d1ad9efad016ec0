/** Adds to a document what its prices of calls mean for a program, by the program's call profile. */
import { alignedRounds } from '../../results/rounds.js';
import type { CallProfile } from '../../results/call-profile.js';
import type { ComparisonDocument, RunDocument } from '../../results/document.js';
import { isComparison, type ResultDocument } from '../../results/kinds.js';
import { withProfilePrices } from '../../metrics/overhead/oh-005-profiles.js';
import { programCosts } from '../../metrics/core/program-costs.js';

/** Prices a document, in place of the results of an earlier profile. */
export function priced(document: RunDocument, profile: CallProfile): RunDocument;
export function priced(document: ComparisonDocument, profile: CallProfile): ComparisonDocument;
export function priced(document: ResultDocument, profile: CallProfile): ResultDocument;
export function priced(document: ResultDocument, profile: CallProfile): ResultDocument {
  if (!isComparison(document)) return withProfilePrices(document, profile);
  const systems = document.systems.map((rounds) => rounds.map((round) => withProfilePrices(round, profile)));
  return { ...document, systems, programCosts: programCosts(profile, alignedRounds(systems)) };
}

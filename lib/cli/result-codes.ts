/** The exit code that follows from the results in a document, for every command. */
import { type ResultDocument, roundsOf } from '../results/kinds.js';
import { violationsOf } from '../results/violations.js';
import { isInactive } from '../saved/attested.js';
import { exitCodes, firstOf } from './exit-codes.js';

/** `others`: further codes that apply, e.g. for a gate's verdict or an output that could not be written. */
export const exitCodeOfResults = (document: ResultDocument, others: readonly number[] = []): number =>
  firstOf([...others, ...codesOf(document)]);

export const unwrittenCodes = (unwritten: readonly Error[]): number[] =>
  unwritten.length > 0 ? [exitCodes.failed] : [];

function codesOf(document: ResultDocument): number[] {
  const rounds = roundsOf(document);
  const results = rounds.flatMap(({ metrics }) => metrics);
  const unproven = rounds.some(({ system }) => system.notCheckedAfter !== undefined);
  return [
    ...(document.completed ? [] : [exitCodes.interrupted]),
    ...(results.some(isInactive) ? [exitCodes.notAttested] : []),
    ...(violationsOf(document).length > 0 ? [exitCodes.isolationBreach] : []),
    ...(unproven || results.some(({ status }) => status === 'failed' || status === 'invalid')
      ? [exitCodes.failed]
      : []),
  ];
}

/** The exit code that follows from the results in a document, for every command. */
import { isComparison, type ResultDocument, roundsOf } from '../results/kinds.js';
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
    ...(document.completed ? [] : codesOfEnd(document)),
    ...(results.some(isInactive) ? [exitCodes.notAttested] : []),
    ...(violationsOf(document).length > 0 ? [exitCodes.isolationBreach] : []),
    ...(unproven || results.some(({ status }) => status === 'failed' || status === 'invalid')
      ? [exitCodes.failed]
      : []),
  ];
}

/** A comparison without a second system cannot be carried out as written; what is not active has a code of its own. */
function codesOfEnd(document: ResultDocument): number[] {
  const stopped = isComparison(document) ? document.stopped : undefined;
  if (!stopped) return [exitCodes.interrupted];
  return stopped.because === 'missing' ? [exitCodes.usage] : [];
}

/** Exit codes that the results of a document ask for, whichever command has it. */
import { type ResultDocument, roundsOf } from '../report/view.js';
import { isInactive } from '../saved/attested.js';
import { exitCodes } from './exit-codes.js';

export function codesOf(document: ResultDocument): number[] {
  const rounds = roundsOf(document);
  const results = rounds.flatMap(({ metrics }) => metrics);
  const unproven = rounds.some(({ system }) => system.notCheckedAfter !== undefined);
  return [
    ...(document.completed ? [] : [exitCodes.interrupted]),
    ...(results.some(isInactive) ? [exitCodes.notAttested] : []),
    ...(unproven || results.some(({ status }) => status === 'failed' || status === 'invalid')
      ? [exitCodes.failed]
      : []),
  ];
}

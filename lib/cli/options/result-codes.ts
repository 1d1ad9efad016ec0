/** The exit code that follows from the results in a document, for every command. */
import type { GateDocument } from '../../gate/document.js';
import { isComparison, type ResultDocument, roundsOf } from '../../results/kinds.js';
import { saysDisturbed, wasBusy } from '../../metrics/core/disturbed.js';
import type { RunDocument } from '../../results/document.js';
import { violationsOf } from '../../results/violations.js';
import { isInactive } from '../../saved/attested.js';
import { exitCodes, firstOf } from './exit-codes.js';

/** `others`: further codes that apply, e.g. for a gate's verdict or an output that could not be written. */
export const exitCodeOfResults = (document: ResultDocument, others: readonly number[] = []): number =>
  firstOf([...others, ...codesOf(document)]);

export const exitCodeOfGate = ({ passed }: GateDocument): number => (passed ? exitCodes.ok : exitCodes.gateFailed);

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
    ...(unproven || rounds.some(hasFault) ? [exitCodes.failed] : []),
  ];
}

/** A metric of one round that something else than a busy host keeps from a number. */
function hasFault({ metrics, health }: RunDocument): boolean {
  const busy = wasBusy(health.before);
  return metrics.some(
    (result) => result.status === 'failed' || (result.status === 'invalid' && !(busy && saysDisturbed(result))),
  );
}

/** What a busy host kept from a number, which is no fault; null where there is none. */
export function disturbedText(document: ResultDocument): string | null {
  const rounds = roundsOf(document).filter(({ health }) => wasBusy(health.before));
  const disturbed = rounds.flatMap(({ metrics }) => metrics).filter(saysDisturbed);
  if (disturbed.length === 0) return null;
  const ids = [...new Set(disturbed.map(({ id }) => id))].join(', ');
  return `Other programs kept the host's processors busy, and so ${ids} could not be measured: measure again when they have ended. A busy host alone explains it, so the exit code does not count it.`;
}

/** A comparison without a second system cannot be carried out as written; what is not active has a code of its own. */
function codesOfEnd(document: ResultDocument): number[] {
  const stopped = isComparison(document) ? document.stopped : undefined;
  if (!stopped) return [exitCodes.interrupted];
  return stopped.because === 'missing' ? [exitCodes.usage] : [];
}

/** The result of planning by --detect, in sentences. */
import type { ComparisonDocument } from '../../results/document.js';
import { number, plain } from '../../results/text/plain.js';

export const percentOf = (effect: number): string => `${number(100 * effect)} %`;

/** Sentences on planning; empty without --detect. */
export function detectionText({ plan: { detect, rounds } }: ComparisonDocument): string[] {
  if (!detect) return [];
  const { effect, pilotRounds, needs, isPilot } = detect;
  const size = percentOf(effect);
  if (isPilot)
    return [`These rounds are the pilot from which rounds were to be planned that detect ${size}. It was interrupted.`];
  const open = needs.filter((need) => need.rounds === null);
  const planned = `The number of rounds was planned from a pilot of ${pilotRounds} rounds, which is no part of the result, so that the 95 % interval of the ratio does not hold 1 where an effect is ${size}, with a probability of about 80 %.`;
  if (open.length === 0) return [planned];
  const each = open.map(({ metric, system, detects }) => plain(`${metric} of ${system} ${percentOf(detects)}`));
  return [
    planned,
    `More rounds than were allowed would detect ${size} in others; these ${rounds} detect: ${each.join(', ')}.`,
  ];
}

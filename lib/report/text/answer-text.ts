/** Texts of an answer that all formats share. */
import type { Advice, Answer, Broken, Figure, Line } from '../../results/answer-schema.js';
import { named } from '../../answer/candidates.js';

/** Formats the number of a figure: `+189.0 ms`; where there is none, the reason or a dash. */
export const numberOf = ({ shown, word, note }: Figure): string =>
  shown ?? (word === 'not measured' ? '–' : (note ?? '–'));

/** Notes beside the number; null if there are none. */
export function notesOf({ shown, cause, note, word }: Figure): string | null {
  const notes = [
    cause === null ? null : `nearly all of it ${cause}`,
    shown === null && word !== 'not measured' ? null : note,
  ];
  return notes.filter((one) => one !== null).join('; ') || null;
}

/** Whether a line has no figure of a metric. */
export const isSilent = ({ figures }: Line): boolean => figures.every(({ metric, word }) => metric === null && word === 'not measured'); // prettier-ignore

/** Formats a violation: `does not limit 8 ways to allocate: 22 GiB granted under 20 GiB (IS-001, IS-011)`. */
export const brokenText = ({ text, metrics }: Broken): string => `${text} (${metrics.join(', ')})`;

/** Formats places: `1. mps; 2. hami-core`; null without places. */
export function placesText({ places }: Advice): string | null {
  return places && places.map(({ place, systems }) => `${place}. ${named(systems)}`).join('; ');
}

/** Says what decided and what would have. */
export function decidesText({ decides, missing }: Advice): string {
  const parts = [
    ...(decides.length > 0 ? [`Decided by ${decides.join(', ')}.`] : []),
    ...(missing.length > 0 ? [`Not measured: ${missing.join(', ')}.`] : []),
  ];
  return parts.join(' ');
}

/** Returns the reason why no use has places, if it is the same for all; it is then said once. */
export function commonReason(advice: readonly Advice[]): string | null {
  const reasons = new Set(advice.map(({ reason }) => reason));
  return reasons.size === 1 && advice.every(({ places }) => places === null) ? ([...reasons][0] ?? null) : null;
}

/** Most words that are shown of the first thing that is not known. */
const MOST_WORDS = 16;

/**
 * Names the first thing that is not known, for the line below the decision: its own section has the rest, with
 * commands.
 */
export function openText({ unknown }: Answer): string | null {
  const [first, ...others] = unknown;
  if (!first) return null;
  const words = first.text.split(' ');
  const text = words.length <= MOST_WORDS ? first.text : `${words.slice(0, MOST_WORDS).join(' ')} …`;
  return others.length === 0 ? text : `${text} ${others.length} more below.`;
}

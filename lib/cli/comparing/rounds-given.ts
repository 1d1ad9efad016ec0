/** `--rounds` and `--detect`, and the text about the resulting plan. */
import { MOST_POSSIBLE, type WantedRounds } from '../../api/rounds.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { percentOf } from '../../report/tables/detection.js';
import { plain } from '../../results/text/plain.js';
import { parseNumber } from '../options/options.js';
import { type Aim, type Detection, FEWEST_ROUNDS, MOST_ROUNDS } from '../../run/effects/detect.js';

export interface RawDetecting {
  detect?: string;
  maxRounds?: string;
  rounds?: string;
}

const MOST_PERCENT = 100;

/** Null: the tier decides. */
export function roundsGiven(raw: RawDetecting): WantedRounds {
  return parseAim(raw) ?? (raw.rounds === undefined ? null : parseRounds(raw.rounds));
}

/** Null without --detect. */
function parseAim({ detect, maxRounds, rounds }: RawDetecting): Aim | null {
  if (detect === undefined) {
    if (maxRounds === undefined) return null;
    throw new UsageError('Expected --max-rounds together with --detect but received it alone.');
  }
  if (rounds !== undefined)
    throw new UsageError('Expected --rounds or --detect but received both: --detect plans the rounds itself.');
  return { effect: parseEffect(detect), mostRounds: parseMost(maxRounds) };
}

function parseEffect(text: string): number {
  const percent = Number(/^(\d+(?:\.\d+)?)%$/.exec(text)?.[1]);
  if (percent > 0 && percent <= MOST_PERCENT) return percent / 100;
  throw new UsageError(
    `Expected --detect to be a percentage above 0% and at most ${MOST_PERCENT}%, e.g. 5%, but received ${quoted(text)}.`,
  );
}

function parseMost(text: string | undefined): number {
  if (text === undefined) return MOST_ROUNDS;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= FEWEST_ROUNDS && value <= MOST_POSSIBLE) return value;
  throw new UsageError(
    `Expected --max-rounds to be an integer from ${FEWEST_ROUNDS} to ${MOST_POSSIBLE} but received ${quoted(text)}.`,
  );
}

function parseRounds(text: string): number {
  const value = parseNumber('--rounds', text);
  if (Number.isInteger(value) && value >= 1 && value <= MOST_POSSIBLE) return value;
  throw new UsageError(`Expected --rounds to be an integer from 1 to ${MOST_POSSIBLE} but received ${quoted(text)}.`);
}

/** The result of the pilot in one line. */
export function plannedText({ effect, needs }: Detection, rounds: number): string {
  const size = percentOf(effect);
  if (needs.length === 0)
    return `Planned: ${rounds} rounds, the fewest: no metric of the pilot has a ratio that tells how many detect ${size}.`;
  const [most] = [...needs].sort((a, b) => (b.rounds ?? Infinity) - (a.rounds ?? Infinity));
  const why = most?.rounds === null ? 'the most that were allowed' : `${most?.metric} of ${most?.system} needs most`;
  return plain(`Planned: ${rounds} rounds to detect ${size} (${why}).`);
}

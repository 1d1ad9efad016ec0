/** Whether memory can have been moved in a time, by the rate of the link. */
import type { PcieLink } from '../../native/addon-types.js';
import type { Check, MetricResult } from '../../results/document.js';
import { beyondLink, noFasterThan } from '../pcie/link.js';
import { MS_PER_S } from './rates.js';
import { ms, type Move } from './target-study.js';

const BYTES_PER_GB = 1e9;

const gbs = (bytes: number, millis: number): number => bytes / BYTES_PER_GB / (millis / MS_PER_S);

/** What a link of that rate needs. */
export const secondsOnLink = (bytes: number, ceiling: number): number => bytes / BYTES_PER_GB / ceiling;

/** For `impossible`: `bytes` were moved one after the other in the time that the result says. */
export function movedTooFast(bytes: number, millis: number, details: MetricResult['details']): string | null {
  return millis > 0 ? beyondLink({ value: gbs(bytes, millis), details }) : null;
}

/** Every copy in both directions, of targets that hold `bytes`. */
export const copiesCheck = (
  link: PcieLink,
  bytes: number,
  moves: readonly Pick<Move, 'checkpoint' | 'restore'>[],
): Check =>
  noFasterThan(
    link,
    moves.flatMap(({ checkpoint, restore }) => [
      { name: 'checkpoint', gbs: gbs(bytes, ms(checkpoint)) },
      { name: 'restore', gbs: gbs(bytes, ms(restore)) },
    ]),
  );

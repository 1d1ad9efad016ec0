/** In which order systems run, round by round: so that a drift of the machine meets all of them alike. */
import { shuffled } from '../stats/random.js';

/** Two systems alternate A B B A; more are shuffled again each round. One system just repeats. */
export function roundOrder<T>(systems: readonly T[], rounds: number, seed: number): T[][] {
  return Array.from({ length: rounds }, (_, round) => {
    if (systems.length > 2) return shuffled(systems, seed + round);
    return round % 2 === 0 ? [...systems] : [...systems].reverse();
  });
}

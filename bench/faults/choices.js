// Seeded choices: each case has its own randomness, so that one of them can be repeated alone.
import { seededRandom } from '../../dist/stats/random.js';

/** Distinct for each pair of seed and case number. */
export function choicesOf(seed, number) {
  const random = seededRandom(Math.imul(seed ^ (number * 0x9e3779b1), 0x85ebca6b) + number);
  // The first numbers of similar seeds resemble each other.
  for (let i = 0; i < 4; i++) random();
  const below = (most) => Math.floor(random() * most);
  const oneOf = (list) => list[below(list.length)];
  const some = (list, most) => Array.from({ length: 1 + below(most) }, () => oneOf(list));
  return { random, below, oneOf, some, chance: (share) => random() < share };
}

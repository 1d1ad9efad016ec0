/** How evenly something is divided. */

/** Jain, Chiu and Hawe: 1 where all are equal, 1/n where one tenant has everything; null where every share is 0. */
export function jain(parts: readonly number[]): number | null {
  const sum = parts.reduce((all, part) => all + part, 0);
  return sum > 0 ? (sum * sum) / (parts.length * parts.reduce((all, part) => all + part * part, 0)) : null;
}

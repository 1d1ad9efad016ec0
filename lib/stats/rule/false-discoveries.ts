/**
 * Which effects of a family are established: the expected share of false ones among those that are published is at most
 * 5 %. Benjamini and Hochberg (1995) on the filtered set (Katsevich, Sabatti and Bogomolov, 2021): an effect that is too
 * small to count is not published as a difference, so it does not make room for others.
 */
export const FALSE_DISCOVERY_RATE = 0.05;

interface Tested {
  /** Two-sided p of no difference; null if it could not be tested. */
  p: number | null;
  /** Whether it would be published as a difference. */
  counts: boolean;
}

/**
 * An effect that counts is established up to the largest p at which m · p ÷ (effects with p at or below it that count) is
 * at most the rate; one that does not count, where it is so among all effects. `tests` is m where tests with a p above the
 * rate, which establish nothing, are not in the family.
 */
export function established(
  family: readonly Tested[],
  rate = FALSE_DISCOVERY_RATE,
  tests = family.filter(({ p }) => p !== null).length,
): boolean[] {
  const ps = family.flatMap(({ p }) => p ?? []).sort((a, b) => b - a);
  const thresholdAmong = (some: readonly Tested[]) => {
    const among = some.flatMap(({ p }) => p ?? []).sort((a, b) => b - a);
    // How many of them are at or below each p, from the largest p on.
    let above = 0;
    return (
      ps.find((p) => {
        while (above < among.length && (among[above] as number) > p) above++;
        return tests * p <= rate * (among.length - above);
      }) ?? -1
    );
  };
  const [ofAll, ofCounting] = [thresholdAmong(family), thresholdAmong(family.filter(({ counts }) => counts))];
  return family.map(({ p, counts }) => p !== null && p <= (counts ? ofCounting : ofAll));
}

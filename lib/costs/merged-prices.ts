/** Merges the prices of several documents; costs computed with different prices are not comparable. */
import type { ComparisonDocument } from '../results/document.js';
import type { GpuPrices } from '../results/cost-schemas.js';

type Priced = Pick<ComparisonDocument, 'prices'>;

const pricesOf = (all: readonly GpuPrices[], name: string): string[] =>
  all.flatMap(({ currency, systems }) =>
    systems.flatMap(({ system, perHour }) => (system === name ? [`${perHour} ${currency}`] : [])),
  );

/** Why the documents' prices cannot be merged, e.g. `4 USD and 3 USD for an hour of mps`; null if they can. */
export function priceClash(documents: readonly Priced[]): string | null {
  const all = documents.flatMap(({ prices }) => prices ?? []);
  if (all.length > 0 && all.length < documents.length) return 'prices in some and none in others';
  for (const name of new Set(all.flatMap(({ systems }) => systems.map(({ system }) => system)))) {
    const [first, ...others] = new Set(pricesOf(all, name));
    if (others.length > 0) return `${first} and ${others[0]} for an hour of ${name}`;
  }
  return null;
}

/** The documents must have no clash. */
export function mergedPrices(documents: readonly Priced[]): Priced {
  const all = documents.flatMap(({ prices }) => prices ?? []);
  const [first] = all;
  if (!first) return {};
  const systems = new Map(all.flatMap((prices) => prices.systems.map((each) => [each.system, each] as const)));
  return { prices: { ...first, systems: [...systems.values()] } };
}

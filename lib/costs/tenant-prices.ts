/** The price of an hour for one tenant of each system on the measured card. */
import { quoted, UsageError } from '../errors/usage-error.js';
import type { GpuPrices, SystemPrice } from '../results/cost-schemas.js';
import { type Limits, SOLE_TENANT, type System } from '../systems/system.js';
import { priceOf, type Prices } from './read-prices.js';

export interface Card {
  /** The name that the driver reports. */
  name: string;
  memoryBytes: number;
}

type PricedSystem = Pick<System, 'name' | 'unavailable' | 'limits'>;

/** The systems must be prepared, so that their limits are known. Throws UsageError if the card has no price. */
export function tenantPrices(prices: Prices, card: Card, systems: readonly PricedSystem[]): GpuPrices {
  const own = systems.every(({ name }) => 'perHour' in (priceOf(prices, name) ?? {}));
  const perGpuHour = own ? null : priceOfCard(prices, card);
  return {
    currency: prices.currency,
    perGpuHour,
    systems: systems
      .filter(({ unavailable }) => unavailable === null)
      .map((system) => priceOfSystem(prices, perGpuHour ?? 0, card, system)),
  };
}

function priceOfCard({ cards }: Prices, { name }: Card): number {
  if (typeof cards === 'number') return cards;
  const found = cards?.get(name);
  if (found !== undefined) return found;
  const named = [...(cards?.keys() ?? [])].map(quoted).join(', ');
  throw new UsageError(
    `Expected cards of prices to have ${quoted(name)}, the card that is measured, but received ${named}: add it with the name that the driver reports, or give one number for any card.`,
  );
}

function priceOfSystem(prices: Prices, perGpuHour: number, card: Card, system: PricedSystem): SystemPrice {
  const given = priceOf(prices, system.name);
  if (given && 'perHour' in given)
    return { system: system.name, sharePercent: null, from: 'prices', perHour: given.perHour };
  const share = given ? { sharePercent: given.sharePercent, from: 'prices' as const } : limitedShare(system, card);
  return { system: system.name, ...share, perHour: (perGpuHour * share.sharePercent) / 100 };
}

/** The larger of the system's limits, because that share of the card is not available to others. */
function limitedShare(system: PricedSystem, card: Card): Pick<SystemPrice, 'from'> & { sharePercent: number } {
  const { memoryBytes, smPercent }: Limits = system.limits(SOLE_TENANT);
  const memory = memoryBytes === null ? 0 : Math.min(100, (100 * memoryBytes) / card.memoryBytes);
  const compute = Math.min(100, smPercent ?? 0);
  if (memory === 0 && compute === 0) return { sharePercent: 100, from: 'whole card' };
  return memory >= compute
    ? { sharePercent: memory, from: 'memory limit' }
    : { sharePercent: compute, from: 'compute limit' };
}

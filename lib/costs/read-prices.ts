/** Reads the prices of GPU hours from the key `prices` of a file for --config. docs/costs.md describes it. */
import { closest } from '../errors/closest.js';
import { isMap, type RawMap, Values } from '../config/values.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { nameOfLabel } from '../systems/system-name.js';

/** A tenant pays for a share of the card, or a price of its own. */
export type TenantPrice = { sharePercent: number } | { perHour: number };

export interface Prices {
  /** Text shown with the amounts. */
  currency: string;
  /**
   * Price of a whole card for an hour: one for every card, or one per card name of the driver. Null: each system has
   * its own price.
   */
  cards: number | ReadonlyMap<string, number> | null;
  systems: ReadonlyMap<string, TenantPrice>;
  /** The prices as they were written, so that they can be read again. */
  source: RawMap;
}

const DEFAULT_CURRENCY = 'USD';
/** Together with ` / million tokens` it still fits into a table. */
const LONGEST_CURRENCY = 12;
const HIGHEST = 1e9;
const PRICE = `a price of an hour above 0 and up to ${HIGHEST}, e.g. 3.50`;

/** Null if the file has no prices. */
export function pricesIn(top: Values): Prices | null {
  if (!top.has('prices')) return null;
  const values = top.nested('prices', ['currency', 'cards', 'systems']);
  const systems = systemsIn(values);
  const cards = cardsIn(values);
  if (cards === null && systems.size === 0)
    throw top.expected('prices', 'a map with cards, the price of a GPU hour by card, or systems');
  return { currency: currencyIn(values), cards, systems, source: top.map('prices') ?? {} };
}

/** Reads the value of a file's key `prices`; null if it is undefined. Throws UsageError. */
export const pricesFrom = (source: RawMap | undefined): Prices | null =>
  source === undefined ? null : pricesIn(new Values({ prices: source }, 'the configuration', ['prices']));

function currencyIn(values: Values): string {
  const text = values.text('currency') ?? DEFAULT_CURRENCY;
  if (text.length <= LONGEST_CURRENCY && text.trim() === text && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)) return text;
  throw values.expected('currency', `a label of at most ${LONGEST_CURRENCY} characters, e.g. EUR`);
}

function priceIn(values: Values, key: string): number {
  const value = values.number(key, PRICE, { least: 0, most: HIGHEST });
  if (value !== undefined && value > 0) return value;
  throw values.expected(key, PRICE);
}

function cardsIn(values: Values): Prices['cards'] {
  const raw = values.raw('cards');
  if (raw === undefined) return null;
  if (typeof raw === 'string') return priceIn(values, 'cards');
  const map = values.map('cards') ?? {};
  const names = Object.keys(map);
  if (names.length === 0) throw values.expected('cards', 'a price of an hour, or a map of names of cards to prices');
  const own = values.nested('cards', names);
  return new Map(names.map((name) => [name, priceIn(own, name)]));
}

function systemsIn(values: Values): Prices['systems'] {
  const map = values.map('systems') ?? {};
  const names = Object.keys(map);
  const own = values.nested('systems', names);
  return new Map(
    names.map((name): [string, TenantPrice] => {
      const raw = map[name];
      if (raw === undefined || !isMap(raw))
        throw own.expected(name, 'a map with share or perHour, e.g. { share: 50% }');
      return [name, tenantPrice(own.nested(name, ['share', 'perHour']))];
    }),
  );
}

function tenantPrice(values: Values): TenantPrice {
  const [hasShare, hasPrice] = [values.has('share'), values.has('perHour')];
  if (hasShare === hasPrice)
    throw values.error(
      'share',
      `Expected ${values.owner} to have share or perHour but received ${hasShare ? 'both' : 'neither'}.`,
    );
  return hasShare ? { sharePercent: shareIn(values) } : { perHour: priceIn(values, 'perHour') };
}

function shareIn(values: Values): number {
  const [, digits] = /^(\d+(?:\.\d+)?) ?%$/.exec(values.text('share') ?? '') ?? [];
  const percent = Number(digits);
  if (percent > 0 && percent <= 100) return percent;
  throw values.expected('share', 'a percentage of the card above 0% and up to 100%, e.g. 50%');
}

/** Finds the price by label or by name, because documents add to the name of a system that is not proven. */
export const priceOf = ({ systems }: Prices, label: string): TenantPrice | undefined =>
  systems.get(label) ?? systems.get(nameOfLabel(label));

/**
 * Called before anything is measured. Throws UsageError if a price is for no system, or a system would have no price.
 */
export function checkPriced(prices: Prices, labels: readonly string[]): void {
  const names = labels.map(nameOfLabel);
  const unknown = [...prices.systems.keys()].find((name) => !labels.includes(name) && !names.includes(name));
  if (unknown !== undefined) {
    const near = closest(unknown, names);
    throw new UsageError(
      `Expected systems of prices to be systems that are measured but received ${quoted(unknown)}: ${near ? `did you mean ${near}?` : `there are ${names.join(', ')}.`}`,
    );
  }
  const without = labels.find((label) => !('perHour' in (priceOf(prices, label) ?? {})));
  if (prices.cards === null && without !== undefined)
    throw new UsageError(
      `Expected prices to have cards, the price of a GPU hour, or perHour for every system, but ${nameOfLabel(without)} has neither: write cards: 3.50, or systems: { ${nameOfLabel(without)}: { perHour: 3.50 } }.`,
    );
}

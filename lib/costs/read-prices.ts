/** Reads the prices of GPU hours from the key `prices` of a file for --config. docs/costs.md describes it. */
import { didYouMean } from '../errors/closest.js';
import type * as v from 'valibot';
import { A_MAP, type Field, key, needed, number, scalar } from '../config/schema.js';
import { Place } from '../config/setting-place.js';
import { isMap, type RawMap } from '../config/raw.js';
import { either, mapOf, oneOf, read, settings } from '../config/read.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { nameOfLabel } from '../systems/system-name.js';

/** A tenant pays for a share of the card, or a price of its own. */
type TenantPrice = { sharePercent: number } | { perHour: number };

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

/** Together with ` / million tokens` it still fits into a table. */
const LONGEST_CURRENCY = 12;
const HIGHEST = 1e9;

const currency = (): Field<string, string> => {
  const what = `a label of at most ${LONGEST_CURRENCY} characters, e.g. EUR`;
  return scalar(what, { json: { type: 'string', maxLength: LONGEST_CURRENCY } }, (text) =>
    text.length <= LONGEST_CURRENCY && text.trim() === text && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)
      ? text
      : undefined,
  );
};

const price = () =>
  number(`a price of an hour above 0 and up to ${HIGHEST}, e.g. 3.50`, { least: 0, isAbove: true, most: HIGHEST });

const share = (): Field<string, number> =>
  scalar('a percentage of the card above 0% and up to 100%, e.g. 50%', { json: { type: 'string' } }, (text) => {
    const [, digits] = /^(\d+(?:\.\d+)?) ?%$/.exec(text) ?? [];
    const percent = Number(digits);
    return percent > 0 && percent <= 100 ? percent : undefined;
  });

export const priceSettings = settings({
  currency: key(currency(), 'A label.', 'USD'),
  cards: key(
    either(price(), mapOf(price())),
    'Price of a whole card for an hour: one for any card, or one per card name of the driver. Default: each system has its own.',
  ),
  systems: key(
    mapOf(
      oneOf({
        share: needed(share(), 'The share of the card that one tenant pays for, such as 50%.'),
        perHour: needed(price(), 'A price of an hour.'),
      }),
    ),
    'What one tenant of a system pays for. Default: the share of the card that its memory limit or its compute limit is, the larger of the two; the whole card without a limit.',
  ),
});

/** Null if the file has no prices. `top` is the place of the file's outermost map. Throws SettingError. */
export function pricesIn(top: Place): Prices | null {
  const source = top.value('prices');
  if (source === undefined) return null;
  if (!isMap(source)) throw top.expected('prices', A_MAP);
  const place = top.inside('prices');
  const { currency, cards = null, systems = new Map() } = read(priceSettings, place);
  if (cards === null && systems.size === 0)
    throw top.expected('prices', 'a map with cards, the price of a GPU hour by card, or systems');
  if (cards instanceof Map && cards.size === 0)
    throw place.expected('cards', 'a price of an hour, or a map of names of cards to prices');
  return { currency, cards, systems: tenantPricesOf(systems), source };
}

/** Reads the value of a file's key `prices`; null if it is undefined. Throws UsageError. */
export const pricesFrom = (source: RawMap | undefined): Prices | null =>
  source === undefined ? null : pricesIn(new Place({ prices: source }, 'the configuration'));

type Systems = NonNullable<v.InferOutput<typeof priceSettings>['systems']>;

const tenantPricesOf = (systems: Systems): Prices['systems'] =>
  new Map(
    [...systems].map(([name, given]): [string, TenantPrice] => [
      name,
      'share' in given ? { sharePercent: given.share } : { perHour: given.perHour },
    ]),
  );

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
    throw new UsageError(
      `Expected systems of prices to be systems that are measured but received ${quoted(unknown)}: ${didYouMean(unknown, names, `there are ${names.join(', ')}.`)}`,
    );
  }
  const without = labels.find((label) => !('perHour' in (priceOf(prices, label) ?? {})));
  if (prices.cards === null && without !== undefined)
    throw new UsageError(
      `Expected prices to have cards, the price of a GPU hour, or perHour for every system, but ${nameOfLabel(without)} has neither: write cards: 3.50, or systems: { ${nameOfLabel(without)}: { perHour: 3.50 } }.`,
    );
}

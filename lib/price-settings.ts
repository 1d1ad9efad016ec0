/** Prices as a program gives them to `execWorkloads`: the key `prices` of the YAML file of `exec --config`. */
import { type RawMap, rawOf } from './config/raw.js';

export interface PriceSettings {
  /** A label. Default `USD`. */
  currency?: string;
  /** Price of a whole card for an hour: one for any card, or one per card name of the driver. */
  cards?: number | Readonly<Record<string, number>>;
  /**
   * What one tenant of a system pays for: a share of the card such as `50%`, or a price of an hour. Default: the share of
   * the card that its memory limit or its compute limit is, the larger of the two; the whole card without a limit.
   */
  systems?: Readonly<Record<string, { share: string } | { perHour: number }>>;
}

/** Throws TypeError for what YAML could not hold either. */
export const pricesGiven = (prices: PriceSettings | undefined): RawMap | undefined =>
  rawOf(prices, 'prices') as RawMap | undefined;

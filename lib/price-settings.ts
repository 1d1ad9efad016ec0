/** Prices for `execWorkloads`, as a program gives them. */
import { type RawMap, rawOf } from './config/raw.js';
import type { PriceSettings } from './settings-types.js';

/** Throws TypeError for what YAML could not hold either. */
export const pricesGiven = (prices: PriceSettings | undefined): RawMap | undefined =>
  rawOf(prices, 'prices') as RawMap | undefined;

/** An effect in words that every text format shares. */
import type { Effect } from '../document.js';
import { number } from './plain.js';

/** `× 1.08 (1.07 … 1.1)` or `+12 ns (10 … 14)`; `–` where there is none. */
export function effectText(effect: Effect | null, unit: string): string {
  if (!effect) return '–';
  const { ratio, ratioCi95, difference, differenceCi95 } = effect;
  if (ratio !== null && ratioCi95) return `× ${number(ratio)} ${intervalText(ratioCi95)}`;
  if (difference === null) return '–';
  const interval = differenceCi95 ? ` ${intervalText(differenceCi95)}` : '';
  return `${difference > 0 ? '+' : ''}${number(difference)} ${unit}${interval}`;
}

const intervalText = ([low, high]: [number, number]): string => `(${number(low)} … ${number(high)})`;

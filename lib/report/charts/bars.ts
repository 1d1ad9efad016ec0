/** A metric's value by system. */
import { digits, estimateText, inOneLine } from '../../results/text/quantity.js';
import type { Cell, Row } from '../../results/view.js';
import type { Panel } from './panel.js';
import { rowBars } from './row-bars.js';
import { colourOf } from './theme.js';

const described = ({ system, value, ci95 }: Cell, unit: string): string =>
  value === null ? `${system}: not measured` : `${system}: ${inOneLine(estimateText({ value, ci95 }, unit))}`;

/** Draws a metric's value by system; null if no system has one. */
export function barsPanel({ cells, unit }: Row): Panel | null {
  const rows = cells.map((cell, i) => ({
    name: cell.system,
    value: cell.value,
    ci95: cell.ci95,
    figure: cell.value === null ? '' : digits(cell.value),
    tip: described(cell, unit),
    colour: colourOf(i),
  }));
  return rowBars(rows, `Values in ${unit}, with 95 % intervals: ${rows.map(({ tip }) => tip).join('; ')}.`);
}

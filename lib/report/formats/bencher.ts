/**
 * Writes the Bencher Metric Format: benchmark → measure → value and interval. Times are its `latency`, in nanoseconds.
 */
import { baseUnit } from '../text/base-units.js';
import { plain } from '../../results/text/plain.js';
import { type Cell, type Row, rowsOf, type View } from '../../results/view.js';

interface Measure {
  value: number;
  lower_value?: number;
  upper_value?: number;
}

const NS_PER_SECOND = 1e9;

/** Leaves out metrics without a number, because Bencher has no way to express them. */
export function bencherReport(view: View): string {
  const entries = rowsOf(view).flatMap((row) =>
    row.cells.flatMap((cell): [string, Record<string, Measure>][] =>
      cell.value === null ? [] : [[plain(`${cell.system}/${row.id} ${row.name}`), measured(row, cell, cell.value)]],
    ),
  );
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

function measured({ unit }: Row, { ci95 }: Cell, value: number): Record<string, Measure> {
  const { name, factor } = baseUnit(unit);
  const [measure, scale] =
    name === 'seconds' ? ['latency', factor * NS_PER_SECOND] : [name.replaceAll('_', '-'), factor];
  const scaled = (number: number) => Number((number * scale).toPrecision(15));
  const interval = ci95 && { lower_value: scaled(ci95[0]), upper_value: scaled(ci95[1]) };
  return { [measure]: { value: scaled(value), ...interval } };
}
